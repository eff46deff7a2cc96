// Sizes and gradients of pooling, with numbers worked out by hand.

#include <gtest/gtest.h>

#include <vector>

#include "autograd/backward.h"
#include "tensor/from.h"
#include "tensor/index.h"
#include "tensor/ops.h"
#include "tensor/ops/pool/pool_window.h"

namespace firn {
namespace {

using Doubles = std::vector<double>;

// 3 pixels, windows of 2 every 2: the second one hangs over the end.
TEST(PoolTest, CeilModeKeepsAWindowThatHangsOverTheEnd) {
  const Tensor x = FromVector<double>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3});
  const Tensor y = MaxPool2d(x, {.kernel = 2, .ceil_mode = true});
  EXPECT_EQ(y.shape(), Shape({1, 1, 2, 2}));
  EXPECT_EQ(y.ToVector<double>(), (Doubles{5, 6, 8, 9}));
}

// 6 pixels with one of padding on both sides, windows of 2 every 4: they would start at -1, 3 and
// 7, but 7 is behind the image and its padding.
TEST(PoolTest, CeilModeDropsAWindowThatStartsBehindTheImage) {
  const Tensor y =
      MaxPool2d(Ones({1, 1, 6, 6}), {.kernel = 2, .stride = 4, .padding = 1, .ceil_mode = true});
  EXPECT_EQ(y.shape(), Shape({1, 1, 2, 2}));
}

// The pixel in the middle wins all nine windows. Added up in bf16, whose numbers lie 2 apart from
// 256 on, 256 + 1 is 256 again.
TEST(PoolTest, GradientsOfHalfTypesAddUpInFloat) {
  for (DType dtype : {DType::kBF16, DType::kF32}) {
    Tensor x = Zeros({1, 1, 5, 5}, dtype);
    x[{0, 0, 2, 2}] = 1;
    x.SetRequiresGrad();
    const Tensor seed = FromVector<float>({256, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 3, 3}).To(dtype);
    MaxPool2d(x, {.kernel = 3, .stride = 1}).Backward(seed);
    EXPECT_EQ(x.grad().ToVector<double>()[12], 264) << DTypeName(dtype);
    EXPECT_EQ(Sum(x.grad().To(DType::kF64)).Item(), 264) << DTypeName(dtype);
  }
}

// Whose kernel once said that the windows are not known.
TEST(PoolTest, WindowsOfOnePixelHaveGradients) {
  Tensor x = FromVector<double>({1, 2, 3, 4, 5, 6}, {1, 1, 2, 3}).SetRequiresGrad();
  const Tensor y = MaxPool2d(x, {.kernel = 1, .stride = 2});
  EXPECT_EQ(y.ToVector<double>(), (Doubles{1, 3}));
  y.Backward(FromVector<double>({10, 20}, {1, 1, 1, 2}));
  EXPECT_EQ(x.grad().ToVector<double>(), (Doubles{10, 0, 20, 0, 0, 0}));
}

}  // namespace
}  // namespace firn
