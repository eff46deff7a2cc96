// The distance of an f32 convolution from the f64 one shows whether Winograd's method is used.

#include "firn/tensor/precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "firn/tensor/ops/conv/conv.h"
#include "firn/tensor/ops/random/draws.h"

namespace firn {
namespace {

// The largest error of an f32 convolution with a square kernel, over the largest result.
double ErrorOf(int64_t kernel) {
  const Tensor x = Randn({4, 64, 16, 16});
  const Tensor weight = Randn({64, 64, kernel, kernel});
  const Conv2dOptions options{.padding = kernel / 2};
  const auto want =
      Conv2d(x.To(DType::kF64), weight.To(DType::kF64), {}, options).ToVector<double>();
  const auto got = Conv2d(x, weight, {}, options).ToVector<double>();
  double error = 0, largest = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    error = std::max(error, std::abs(got[i] - want[i]));
    largest = std::max(largest, std::abs(want[i]));
  }
  return error / largest;
}

TEST(PrecisionTest, WithoutWinogradF32ConvolutionsRoundLess) {
  for (const int64_t kernel : {3, 5}) {
    EXPECT_TRUE(WinogradAllowed());
    const double fast = ErrorOf(kernel);
    SetWinogradAllowed(false);
    EXPECT_FALSE(WinogradAllowed());
    const double direct = ErrorOf(kernel);
    SetWinogradAllowed(true);
    EXPECT_LT(direct, 2e-6) << kernel;  // sums of up to 1600 products
    EXPECT_NE(fast, direct) << kernel;  // Winograd's
    // Long sums of 5 x 5 round more than Winograd where a processor adds them up one by one (AVX2).
    if (kernel == 3) {
      EXPECT_GT(fast, direct);
    }
    EXPECT_LT(fast, 2.5e-6) << kernel;  // by points 0, 1, -1, 2 and -2 6.0e-6 and 3.4e-6
  }
}

TEST(PrecisionTest, StartsWithPyTorchsChoicesForCuda) {
  EXPECT_EQ(MatmulMath(), F32Math::kStrict);
  EXPECT_EQ(ConvMath(), F32Math::kTf32);
  SetConvMath(F32Math::kStrict);
  SetMatmulMath(F32Math::kTf32);
  EXPECT_EQ(ConvMath(), F32Math::kStrict);
  EXPECT_EQ(MatmulMath(), F32Math::kTf32);
  SetConvMath(F32Math::kTf32);
  SetMatmulMath(F32Math::kStrict);
}

// A compiled graph's settings do not change those of other threads.
TEST(PrecisionTest, AScopeHoldsForItsThreadWhateverTheProcessSets) {
  const inner::internal::Precision outer = {
      .winograd = false, .matmul = F32Math::kTf32, .conv = F32Math::kStrict};
  {
    const inner::internal::PrecisionScope scope(outer);
    SetWinogradAllowed(true);
    SetMatmulMath(F32Math::kStrict);
    EXPECT_FALSE(WinogradAllowed());
    EXPECT_EQ(MatmulMath(), F32Math::kTf32);
    EXPECT_EQ(ConvMath(), F32Math::kStrict);
    const inner::internal::Precision inner = {
        .winograd = true, .matmul = F32Math::kStrict, .conv = F32Math::kStrict};
    {
      const inner::internal::PrecisionScope innermost(inner);
      EXPECT_TRUE(WinogradAllowed());
    }
    EXPECT_FALSE(WinogradAllowed());
    std::thread([] { EXPECT_TRUE(WinogradAllowed()); }).join();
  }
  EXPECT_TRUE(WinogradAllowed());
  EXPECT_EQ(ConvMath(), F32Math::kTf32);
}

}  // namespace
}  // namespace firn
