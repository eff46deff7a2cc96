// Gradients on the CPU that bring rows of half types into floats, piece by piece, to the numbers
// that doubles give.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "autograd/backward.h"
#include "tensor/from.h"
#include "tensor/operators.h"
#include "tensor/ops.h"
#include "tensor/rng.h"

namespace firn {
namespace {

constexpr DType kNarrow[] = {DType::kF32, DType::kF16, DType::kBF16};

// Of a function of x of the shape, with `dy` at its result.
template <class F>
Tensor GradOf(const Shape& shape, const Tensor& dy, DType dtype, const F& f) {
  Tensor x = Zeros(shape, dtype).SetRequiresGrad();
  f(x).Backward(dy.To(dtype));
  return x.grad().To(DType::kF64);
}

// Tiles whose shares are numbers of bf16; behind the last one of a row or column some is left.
TEST(HalfGradients, OfAveragesOfTiles) {
  for (const int64_t width : {7, 33, 130, 2105}) {
    for (const int64_t kernel : {2, 4}) {
      const Shape shape = {3, 5, 6, width};
      const Tensor dy = Randint(-8, 9, {3, 5, 6 / kernel, width / kernel});
      const auto average = [&](const Tensor& x) { return AvgPool2d(x, {.kernel = kernel}); };
      const Tensor share = dy.To(DType::kF64) / static_cast<double>(kernel * kernel);
      const int64_t h = 6 / kernel, w = width / kernel;
      const Tensor tiles = Expand(Reshape(share, {3, 5, h, 1, w, 1}), {3, 5, h, kernel, w, kernel});
      const Tensor want =
          Pad(Reshape(tiles, {3, 5, h * kernel, w * kernel}), {0, width % kernel, 0, 6 % kernel});
      EXPECT_TRUE(GradOf(shape, dy, DType::kF64, average).Equals(want));
      for (const DType dtype : kNarrow) {
        EXPECT_TRUE(GradOf(shape, dy, dtype, average).Equals(want))
            << DTypeName(dtype) << " " << width << " " << kernel;
      }
    }
  }
}

TEST(HalfGradients, OfPadding) {
  for (const PadMode mode : {PadMode::kReflect, PadMode::kReplicate, PadMode::kCircular}) {
    for (const int64_t width : {5, 64, 2100}) {
      const auto pad = [&](const Tensor& x) { return Pad(x, {3, 4, 2, 1}, {.mode = mode}); };
      const Tensor dy = Randint(0, 4, {2, 7, width + 7});
      const Tensor want = GradOf({2, 4, width}, dy, DType::kF64, pad);
      for (const DType dtype : kNarrow) {
        EXPECT_TRUE(GradOf({2, 4, width}, dy, dtype, pad).Equals(want))
            << DTypeName(dtype) << " " << width;
      }
    }
  }
}

}  // namespace
}  // namespace firn
