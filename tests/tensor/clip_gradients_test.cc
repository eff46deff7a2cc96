// The gradients of functions that change gradients and nothing else.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/gradient/clip.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using Numbers = std::vector<double>;

Tensor Matrix(Numbers v) { return FromVector(std::move(v), Shape({2, 3})); }

// The gradient of x if that of f(x) is `dy`.
template <class F>
Numbers Back(F f, const Tensor& dy) {
  Tensor x = Matrix({1, 2, 3, 4, 5, 6});
  x.SetRequiresGrad();
  const Tensor y = f(x);
  EXPECT_EQ(y.ToVector<double>(), (Numbers{1, 2, 3, 4, 5, 6}));
  return Grad(Sum(Mul(y, dy)), x).ToVector<double>();
}

TEST(ClipGradByValueTest, CutsOff) {
  const Tensor dy = Matrix({-3, 0.5, 2, -0.5, 9, -9});
  EXPECT_EQ(Back([](const Tensor& x) { return ClipGradByValue(x, -1, 1); }, dy),
            (Numbers{-1, 0.5, 1, -0.5, 1, -1}));
  const Tensor most = FromVector(Numbers{1, 2, 3});
  EXPECT_EQ(Back([&](const Tensor& x) { return ClipGradByValue(x, Mul(most, -1), most); }, dy),
            (Numbers{-1, 0.5, 2, -0.5, 2, -3}));
}

TEST(ClipGradByNormTest, ScalesDown) {
  const Tensor dy = Matrix({3, 4, 0, 0.3, 0.4, 0});
  EXPECT_EQ(Back([](const Tensor& x) { return ClipGradByNorm(x, {.norm = 1, .dims = 1}); }, dy),
            (Numbers{3 * (1 / 5.0), 4 * (1 / 5.0), 0, 0.3, 0.4, 0}));
  EXPECT_EQ(Back([](const Tensor& x) { return ClipGradByNorm(x, {.norm = 100}); }, dy),
            (Numbers{3, 4, 0, 0.3, 0.4, 0}));
  EXPECT_EQ(Back([](const Tensor& x) { return ClipGradByNorm(x, {.norm = 0}); }, dy), (Numbers(6)));
}

TEST(ClipGradByNormTest, TakesNormsThatHalfTypesCannotHold) {
  const auto back = [](double dy, double norm) {
    Tensor x = Ones({4}, DType::kF16);
    x.SetRequiresGrad();
    const Tensor y = ClipGradByNorm(x, {.norm = norm});
    return Grad(Sum(Mul(y, Full({4}, dy, DType::kF16))), x).ToVector<double>();
  };
  EXPECT_EQ(back(60000, 1), Numbers(4, 0.5));  // the norm is 120000
  EXPECT_EQ(back(3, 1e6), Numbers(4, 3));
  EXPECT_EQ(back(3, 0x1p-20), Numbers(4, 0x1p-21));
}

TEST(ClipGradByNormTest, LeavesGradientsBelowALimitOfNone) {
  const Numbers dy = {3, 4, 0, 0.3, 0.4, 0};
  for (const double norm : {HUGE_VAL, 1e300}) {
    const auto clip = [&](const Tensor& x) { return ClipGradByNorm(x, {.norm = norm}); };
    EXPECT_EQ(Back(clip, Matrix(dy)), dy);
    Tensor x = Ones({2}, DType::kF32);
    x.SetRequiresGrad();
    EXPECT_EQ(Grad(Sum(clip(x)), x).ToVector<double>(), Numbers(2, 1));
  }
  const std::string text =
      ErrorOf([] { ClipGradByNorm(Ones({2}), {.norm = HUGE_VAL, .always = true}); });
  EXPECT_NE(text.find("norm must be finite for gradients to always have it"), text.npos) << text;
}

TEST(ClipGradByNormTest, ScalesUpWhereAsked) {
  const auto clip = [](const Tensor& x) {
    return ClipGradByNorm(x, {.norm = 2, .dims = -1, .always = true});
  };
  const Numbers got = Back(clip, Matrix({3, 4, 0, 0, 0, 0}));
  EXPECT_EQ(got, (Numbers{3 * (2 / 5.0), 4 * (2 / 5.0), 0, 0, 0, 0}));
}

TEST(TopKGradTest, KeepsTheLargest) {
  const Tensor dy = Matrix({-5, 1, 2, 4, -3, 3});
  EXPECT_EQ(Back([](const Tensor& x) { return TopKGrad(x, 2); }, dy), (Numbers{0, 1, 2, 4, 0, 3}));
  EXPECT_EQ(Back([](const Tensor& x) { return TopKGrad(x, 2, {.abs = true}); }, dy),
            (Numbers{-5, 0, 2, 4, -3, 0}));
  EXPECT_EQ(Back([](const Tensor& x) { return TopKGrad(x, 1, {.base_dim = 0}); }, dy),
            (Numbers{0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(Back([](const Tensor& x) { return TopKGrad(x, 0); }, dy), (Numbers(6)));
}

}  // namespace
}  // namespace firn
