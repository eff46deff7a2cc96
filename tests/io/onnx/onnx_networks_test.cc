// The networks of all examples and of `firn train` as ONNX files of older and newer operators, read
// again.
#include <gtest/gtest.h>

#include <string>

#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"
#include "tests/examples/networks.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::Network;

// The first opset whose operators compute as Firn's do; attention is one from 23 on. Older opsets
// have several nodes instead, which round differently.
int FirstOfSameBits(const Network& net) { return net.name == "gpt" ? 23 : 13; }

TEST(OnnxNetworksTest, AllComeBackWithTheSameBits) {
  const std::string path = MemoryPath("network.onnx");
  int networks = 0;
  testing::ForEachNetwork([&](const Network& net) {
    SCOPED_TRACE(net.name);
    ++networks;
    for (const int opset : {13, 18, 23, 28}) {
      SCOPED_TRACE(opset);
      const OnnxExportReport report =
          ExportOnnx(path, net.graph, {.opset = opset, .names = net.names});
      EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
      const NoGradScope no_grad;
      const TensorList got = ImportOnnx(path).network.Call(net.inputs);
      ASSERT_EQ(got.size(), net.outputs.size());
      for (size_t i = 0; i < got.size(); ++i) {
        if (opset >= FirstOfSameBits(net)) {
          EXPECT_TRUE(got[i].Equals(net.outputs[i]));
        } else {
          EXPECT_TRUE(Allclose(got[i], net.outputs[i], {.rtol = 1e-5, .atol = 1e-5}));
        }
      }
    }
  });
  EXPECT_EQ(networks, 28);
}

}  // namespace
}  // namespace firn::io
