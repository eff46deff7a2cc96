// Operations that ONNX can express in several ways come back unchanged: the import of an export
// adds up and rounds in the same places.
#include <gtest/gtest.h>

#include <functional>

#include "firn/autograd/graph/capture.h"
#include "firn/autograd/network/network.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using Function = std::function<Tensor(const Tensor&)>;

// Expects f(x), written in several opsets and read again, to give the same bits.
void ExpectSameBits(const Function& f, const Tensor& x, bool dynamic_batch = false) {
  const NoGradScope no_grad;
  const Tensor in[] = {x};
  const Captured c =
      Capture([&](absl::Span<const Tensor> args) { return TensorList{f(args[0])}; }, in);
  const std::string path = MemoryPath("same.onnx");
  for (const int opset : {13, 18, 28}) {
    SCOPED_TRACE(opset);
    ExportOnnx(path, c.graph, {.opset = opset, .dynamic_batch = dynamic_batch});
    EXPECT_TRUE(ImportOnnx(path).network(x).Equals(f(x)));
  }
}

TEST(OnnxSameBits, MeansOfWholeImages) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    SCOPED_TRACE(static_cast<int>(dtype));
    const auto images = [&](const Shape& shape) { return (Randn(shape) + 1).To(dtype); };
    ExpectSameBits([](const Tensor& x) { return AdaptiveAvgPool1d(x, 1); }, images({3, 5, 331}));
    ExpectSameBits([](const Tensor& x) { return AdaptiveAvgPool2d(x, 1); }, images({2, 64, 7, 7}));
    ExpectSameBits([](const Tensor& x) { return AdaptiveAvgPool3d(x, 1); },
                   images({2, 5, 3, 7, 11}));
    // A mean that modules write as a division of a sum is read as a mean.
    ExpectSameBits([](const Tensor& x) { return Mean(x, {2, 3}, true); }, images({2, 64, 7, 7}));
  }
}

// A scale and a shift of each channel round once; a product and a sum twice.
TEST(OnnxSameBits, ScalesAndShiftsOfChannels) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    SCOPED_TRACE(static_cast<int>(dtype));
    const Tensor scale = Randn({16}, dtype), shift = Randn({16}, dtype);
    const Tensor x = Randn({4, 16, 9, 9}, dtype);
    for (const bool dynamic : {false, true}) {
      ExpectSameBits([&](const Tensor& t) { return ChannelAffine(t, scale, shift); }, x, dynamic);
      ExpectSameBits([&](const Tensor& t) { return ChannelAffine(t, scale, {}); }, x, dynamic);
      ExpectSameBits([&](const Tensor& t) { return ChannelAffine(t, {}, shift); }, x, dynamic);
      ExpectSameBits(
          [&](const Tensor& t) {
            return t * Reshape(scale, {16, 1, 1}) + Reshape(shift, {16, 1, 1});
          },
          x, dynamic);
    }
    ExpectSameBits([&](const Tensor& t) { return ChannelAffine(t, scale, shift); },
                   Randn({33, 16}, dtype));
  }
}

}  // namespace
}  // namespace firn::io
