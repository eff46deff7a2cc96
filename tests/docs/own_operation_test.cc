// The operation of tensor/ops/README.md computes what it says, with its gradient.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "firn/autograd/gradcheck.h"
#include "own/swish.h"

namespace firn {
namespace {

TEST(OwnOperationTest, GivesTheFunctionAndItsGradient) {
  const Tensor x = FromVector<double>({-2, -0.5, 0, 1, 3}, Shape({5}));
  const Tensor y = Swish(x, 2);
  const std::vector<double> at = x.ToVector<double>(), got = y.ToVector<double>();
  for (size_t i = 0; i < at.size(); ++i) {
    EXPECT_NEAR(got[i], at[i] / (1 + std::exp(-2 * at[i])), 1e-14) << at[i];
  }
  const auto swish = [](const Tensor& in) { return Swish(in, 2); };
  EXPECT_TRUE(GradCheck(swish, x).ok()) << GradCheck(swish, x);
  EXPECT_TRUE(GradGradCheck(swish, x).ok()) << GradGradCheck(swish, x);
  EXPECT_EQ(Freeze(swish, x)(x).ToVector<double>(), got);
}

}  // namespace
}  // namespace firn
