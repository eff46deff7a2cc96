// CPU gradients that convert rows of half types to floats piece by piece give the numbers of
// doubles.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"

namespace firn {
namespace {

constexpr DType kAll[] = {DType::kF64, DType::kF32, DType::kF16, DType::kBF16};

// The gradient of f at zeros of this shape, if that of its result is `dy`.
template <class F>
Tensor GradOf(const Shape& shape, const Tensor& dy, DType dtype, const F& f) {
  Tensor x = Zeros(shape, dtype).SetRequiresGrad();
  f(x).Backward(dy.To(dtype));
  return x.grad().To(DType::kF64);
}

// Tiles whose shares are numbers of bf16; a row or a column does not end with a whole tile.
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
      for (const DType dtype : kAll) {
        EXPECT_TRUE(GradOf(shape, dy, dtype, average).Equals(want))
            << DTypeName(dtype) << " " << width << " " << kernel;
      }
    }
  }
}

// Padding positions tells which result is which element of x: the gradient adds up dy over these
// results.
TEST(HalfGradients, OfPadding) {
  for (const PadMode mode :
       {PadMode::kReflect, PadMode::kSymmetric, PadMode::kReplicate, PadMode::kCircular}) {
    for (const auto& [width, left, right] : std::vector<std::array<int64_t, 3>>{
             {5, 3, 4}, {64, -3, 4}, {2100, 3, -4}, {2100, 1500, 2000}, {1100, -1030, 2}}) {
      const Shape shape = {2, 4, width};
      const auto pad = [mode, before = left, after = right](const Tensor& x) {
        return Pad(x, {before, after, 2, 1}, {.mode = mode});
      };
      const auto from = pad(Reshape(Arange(8 * width), shape).To(DType::kF64)).ToVector<double>();
      const Tensor dy = Randint(0, 4, {2, 7, width + left + right});
      const auto flow = dy.ToVector<int64_t>();
      std::vector<double> want(static_cast<size_t>(8 * width));
      for (size_t i = 0; i < from.size(); ++i) {
        want[static_cast<size_t>(from[i])] += static_cast<double>(flow[i]);
      }
      const Tensor sums = Reshape(FromVector(want), shape);
      for (const DType dtype : kAll) {
        EXPECT_TRUE(GradOf(shape, dy, dtype, pad).Equals(sums.To(dtype).To(DType::kF64)))
            << DTypeName(dtype) << " " << width << " " << left;
      }
    }
  }
}

}  // namespace
}  // namespace firn
