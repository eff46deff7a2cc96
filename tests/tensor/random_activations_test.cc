// Activations that draw: their results and gradients for any draws.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/compare/close.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/random/gumbel_softmax.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/rng.h"

namespace firn {
namespace {

TEST(RandomActivationsTest, RreluDrawsASlopeForEachElementBelowZero) {
  RandomGenerator generator;
  Tensor x = Full({10000}, -2.0f).SetRequiresGrad();
  const Tensor y = Rrelu(x, 0.25, 0.75, true, &generator);
  Sum(y).Backward();
  const std::vector<float> slopes = x.grad().ToVector<float>(), values = y.ToVector<float>();
  double total = 0;
  for (size_t i = 0; i < slopes.size(); ++i) {
    ASSERT_GE(slopes[i], 0.25f);
    ASSERT_LT(slopes[i], 0.75f);
    ASSERT_EQ(values[i], -2 * slopes[i]);
    total += slopes[i];
  }
  // Ten deviations of the mean of 10000 uniform numbers, 0.5 / sqrt(12 * 10000).
  EXPECT_NEAR(total / 10000, 0.5, 0.0145);
}

TEST(RandomActivationsTest, RreluLeavesWhatIsAboveZero) {
  const Tensor x = FromValues<float>({1, 2, 3});
  EXPECT_TRUE(Rrelu(x, 0.25, 0.75, true).Equals(x));
  EXPECT_TRUE(Rrelu(x * -1, 0.5, 0.5, true).Equals(x * -0.5));
}

TEST(RandomActivationsTest, SoftGumbelSamplesAreDistributions) {
  const Tensor logits = Randn({50, 7});
  const Tensor y = GumbelSoftmax(logits, {.tau = 0.5});
  EXPECT_TRUE(Allclose(Sum(y, -1), Ones({50})));
  EXPECT_GE(Min(y).Item(), 0);
  EXPECT_FALSE(y.Equals(GumbelSoftmax(logits, {.tau = 0.5})));
}

TEST(RandomActivationsTest, HardGumbelSamplesFollowTheLogits) {
  RandomGenerator generator;
  const Tensor logits = FromValues<float>({0, std::log(2.0f), std::log(5.0f)}).Expand({20000, 3});
  const Tensor y = GumbelSoftmax(logits, {.hard = true, .generator = &generator});
  EXPECT_TRUE(Sum(y, -1).Equals(Ones({20000})));
  EXPECT_TRUE(Max(y, -1).values.Equals(Ones({20000})));
  const std::vector<float> shares = Mean(y, 0).ToVector<float>();
  // Five deviations of a share: 5 sqrt(0.25 / 20000).
  EXPECT_NEAR(shares[0], 0.125, 0.018);
  EXPECT_NEAR(shares[1], 0.25, 0.018);
  EXPECT_NEAR(shares[2], 0.625, 0.018);
}

TEST(RandomActivationsTest, HardGumbelSamplesHaveTheGradientOfSoftOnes) {
  const Tensor weights = FromValues<float>({1, 2, 4});
  std::vector<Tensor> gradients;
  for (bool hard : {false, true}) {
    RandomGenerator generator;
    generator.SetSeed(3);
    Tensor logits = FromValues<float>({0.5f, 1, 0}).SetRequiresGrad();
    Sum(GumbelSoftmax(logits, {.hard = hard, .generator = &generator}) * weights).Backward();
    gradients.push_back(logits.grad());
  }
  EXPECT_TRUE(gradients[0].Equals(gradients[1]));
}

TEST(RandomActivationsTest, AllcloseSaysWhetherAllAreClose) {
  const Tensor x = FromValues<float>({1, 2}), y = FromValues<float>({1, 2.25f});
  EXPECT_FALSE(Allclose(x, y));
  EXPECT_TRUE(Allclose(x, y, {.atol = 0.25}));
  EXPECT_TRUE(Allclose(Ones({0}), Ones({0})));
}

}  // namespace
}  // namespace firn
