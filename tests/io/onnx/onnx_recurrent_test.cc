// Recurrent layers as ONNX files, in both directions and of sequences of different lengths: written
// as ONNX's operators, and read back unchanged.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "firn/autograd/graph/capture.h"
#include "firn/io/onnx/internal/onnx_model.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/nn/recurrent.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

// How many of a file's nodes are the operator in each direction.
std::pair<int, int> Directions(const std::string& path, const std::string& op) {
  const internal::OnnxModel model = *internal::ReadOnnxModel(path);
  std::pair<int, int> count;
  for (const internal::OnnxNode& node : model.graph.nodes) {
    if (node.op_type != op) continue;
    for (const internal::OnnxAttribute& a : node.attributes) {
      if (a.name == "direction" && std::get<std::string>(a.value) == "forward") ++count.first;
      if (a.name == "direction" && std::get<std::string>(a.value) == "reverse") ++count.second;
    }
  }
  return count;
}

// Expects that the file of `f` gives the results of f, at the oldest opset and a new one.
void ExpectSame(const CaptureFn& f, const Tensor& x, const std::string& op,
                std::pair<int, int> directions) {
  const NoGradScope no_grad;
  const Captured captured = Capture(f, {&x, 1});
  const TensorList want = f({&x, 1});
  for (const int opset : {13, 22}) {
    SCOPED_TRACE(opset);
    const std::string path = TempPath("recurrent.onnx");
    ExportOnnx(path, captured.graph, {.opset = opset});
    EXPECT_EQ(Directions(path, op), directions);
    OnnxImport import = ImportOnnx(path);
    const Tensor in[] = {x};
    const TensorList got = import.network.Call(in);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(Allclose(got[i], want[i], {.rtol = 1e-5, .atol = 1e-6})) << i;
    }
  }
}

template <class L>
void ExpectLayerComesBack(L& net, const std::string& op, bool both) {
  SCOPED_TRACE(both ? "both directions" : "one direction");
  const int layers = 2;
  const std::pair<int, int> directions = {layers, both ? layers : 0};
  ExpectSame(
      [&](absl::Span<const Tensor> in) {
        const auto [y, h] = net(in[0], {});
        return TensorList{y, h};
      },
      Randn({5, 3, 4}), op, directions);
  SCOPED_TRACE("packed");
  // Two of the sequences end together. Sequences that have to be sorted first cannot be captured.
  const PackedSequence packed =
      PackPaddedSequence(Randn({5, 4, 4}), std::vector<int64_t>{5, 2, 2, 1});
  ExpectSame(
      [&](absl::Span<const Tensor> in) {
        PackedSequence x = packed;
        x.data = in[0];
        const auto result = net(x);
        return TensorList{result.y.data, result.h_n};
      },
      packed.data, op, directions);
}

class OnnxRecurrentTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { ManualSeed(5); }
};

INSTANTIATE_TEST_SUITE_P(BothDirections, OnnxRecurrentTest, ::testing::Bool());

TEST_P(OnnxRecurrentTest, GatedUnitsComeBack) {
  nn::Gru net({.in = 4, .hidden = 6, .layers = 2, .bidirectional = GetParam()});
  ExpectLayerComesBack(net, "GRU", GetParam());
}

TEST_P(OnnxRecurrentTest, PlainUnitsComeBack) {
  nn::Rnn net({.in = 4, .hidden = 6, .layers = 2, .bidirectional = GetParam()});
  ExpectLayerComesBack(net, "RNN", GetParam());
}

TEST_P(OnnxRecurrentTest, PlainUnitsWithReluComeBack) {
  nn::Rnn net({.in = 4,
               .hidden = 6,
               .layers = 2,
               .nonlinearity = RnnNonlinearity::kRelu,
               .bidirectional = GetParam()});
  ExpectLayerComesBack(net, "RNN", GetParam());
}

}  // namespace
}  // namespace firn::io
