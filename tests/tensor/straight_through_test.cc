// The gradient that is not the function's derivative, which the conformance suite cannot find.

#include "firn/tensor/ops/activation/straight_through.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn {
namespace {

TEST(StraightThroughTest, GivesTheFirstAndPassesGradientsToTheSecond) {
  Tensor y = FromValues<float>({0, 1, 2}), x = FromValues<float>({0.25f, 0.75f, 2.25f});
  y.SetRequiresGrad();
  x.SetRequiresGrad();
  const Tensor z = StraightThrough(y, x);
  EXPECT_EQ(z.ToVector<float>(), (std::vector<float>{0, 1, 2}));
  Sum(z * FromValues<float>({1, 2, 3})).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(y.grad().ToVector<float>(), (std::vector<float>{0, 0, 0}));
}

TEST(StraightThroughTest, OfAFunctionOfTheSecondAddsNothingToItsGradient) {
  Tensor x = FromValues<float>({0.25f, 0.75f}).SetRequiresGrad();
  Sum(Square(StraightThrough(Round(x), x))).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{0, 2}));  // 2 Round(x)
}

TEST(StraightThroughTest, SumsGradientsOfWhatWasBroadcast) {
  Tensor x = FromValues<float>({0.5f}).SetRequiresGrad();
  Sum(StraightThrough(FromValues<float>({1, 2, 3}), x)).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (std::vector<float>{3}));
}

}  // namespace
}  // namespace firn
