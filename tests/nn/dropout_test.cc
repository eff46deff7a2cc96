// Promises of every dropout layer: it changes nothing in eval mode or with p = 0, keeps the mean in
// training, refuses wrong options when it is made, and its draws follow the seed.

#include "firn/nn/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/activation.h"
#include "firn/nn/make_layer.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/random/draws.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/reduce/moments.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/rng.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

using testing::ErrorOf;

// [n, c, ...], as the layer takes it, with `groups` samples of one channel.
Tensor Input(const std::string& name, int64_t groups, bool normal = false) {
  Shape shape{groups, 1};
  if (name == "Dropout1d" || name == "FeatureAlphaDropout") shape = Shape{groups, 1, 2};
  if (name == "Dropout2d") shape = Shape{groups, 1, 2, 1};
  if (name == "Dropout3d") shape = Shape{groups, 1, 2, 1, 1};
  return normal ? Randn(shape) : Ones(shape);
}

std::unique_ptr<Module> Make(const std::string& name, const std::string& p) {
  return MakeLayer(name, {{"p", p}});
}
Tensor Call(Module& layer, const Tensor& x) { return dynamic_cast<Layer&>(layer)(x); }

class DropoutTest : public ::testing::TestWithParam<std::string> {};

TEST_P(DropoutTest, IsTheInputItselfInEvalModeAndWithoutP) {
  const Tensor x = Input(GetParam(), 50);
  const auto layer = Make(GetParam(), "0.5");
  layer->Eval();
  EXPECT_TRUE(Call(*layer, x).Is(x));
  EXPECT_TRUE(Call(*Make(GetParam(), "0"), x).Is(x));
}

TEST_P(DropoutTest, LeavesOutEverythingWithPOne) {
  EXPECT_EQ(Sum(Call(*Make(GetParam(), "1"), Input(GetParam(), 50))).Item<float>(), 0);
}

// Allows five standard deviations of the mean of 20000 independent groups.
TEST_P(DropoutTest, KeepsTheMean) {
  ManualSeed(5);
  constexpr int64_t kGroups = 20000;
  constexpr double kP = 0.3;
  const auto layer = Make(GetParam(), "0.3");
  const bool alpha = GetParam().find("Alpha") != std::string::npos;
  const Tensor y = Call(*layer, Input(GetParam(), kGroups, alpha));
  const double deviation = alpha ? 1 : std::sqrt(kP / (1 - kP));
  EXPECT_NEAR(Mean(y).Item<float>(), alpha ? 0 : 1, 5 * deviation / std::sqrt(kGroups));
  // Alpha dropout keeps the variance of normal numbers, whose fourth moment is 3 and less.
  if (alpha) {
    EXPECT_NEAR(Var(y).Item<float>(), 1, 5 * std::sqrt(3.0 / kGroups));
  }
}

TEST_P(DropoutTest, DrawsFollowTheSeed) {
  const Tensor x = Input(GetParam(), 100, true);
  const auto layer = Make(GetParam(), "0.5");
  ManualSeed(3);
  const Tensor first = Call(*layer, x), second = Call(*layer, x);
  EXPECT_FALSE(first.Equals(second));
  ManualSeed(3);
  EXPECT_TRUE(Call(*layer, x).Equals(first));
}

TEST_P(DropoutTest, AFrozenGraphDrawsAnewAtEachRun) {
  const Tensor x = Input(GetParam(), 100, true);
  const auto layer = Make(GetParam(), "0.5");
  StaticGraph frozen = Freeze([&](const Tensor& in) { return Call(*layer, in); }, x);
  ManualSeed(3);
  const Tensor first = frozen(x).Clone(), second = frozen(x).Clone();
  EXPECT_FALSE(first.Equals(second));
  ManualSeed(3);
  EXPECT_TRUE(Call(*layer, x).Equals(first));
}

TEST_P(DropoutTest, RefusesAPThatIsNoProbabilityWhenItIsMade) {
  for (const std::string p : {"-0.1", "1.5", "nan"}) {
    EXPECT_EQ(ErrorOf([&] { Make(GetParam(), p); }),
              "nn::" + GetParam() + ": p is " + p + " (want 0 to 1)");
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, DropoutTest,
                         ::testing::Values("Dropout", "Dropout1d", "Dropout2d", "Dropout3d",
                                           "AlphaDropout", "FeatureAlphaDropout",
                                           "StochasticDepth"),
                         [](const auto& layer) { return layer.param; });

// The first and the last element of each channel are dropped or kept together.
void CheckWhole(const Tensor& y, double kept) {
  const Tensor rows = y.Reshape({-1, 6});
  const std::vector<float> values = rows.ToVector<float>();
  size_t dropped = 0;
  for (size_t i = 0; i < values.size(); i += 6) {
    for (size_t j = 0; j < 6; ++j) EXPECT_EQ(values[i + j], values[i]);
    EXPECT_TRUE(values[i] == 0 || values[i] == static_cast<float>(kept)) << values[i];
    dropped += values[i] == 0 ? 1 : 0;
  }
  EXPECT_GT(dropped, values.size() / 6 / 4);
  EXPECT_LT(dropped, values.size() / 6 * 3 / 4);
}

TEST(ChannelDropoutTest, DropsWholeChannelsOfEachSample) {
  ManualSeed(1);
  CheckWhole(Dropout1d()(Ones({20, 10, 6})), 2);
  CheckWhole(Dropout1d()(Ones({200, 6})), 2);  // [c, l]
  CheckWhole(Dropout2d()(Ones({20, 10, 3, 2})), 2);
  CheckWhole(Dropout2d()(Ones({20, 10, 6})), 2);  // [n, c, l], as PyTorch's
  CheckWhole(Dropout3d()(Ones({20, 10, 3, 1, 2})), 2);
  CheckWhole(Dropout3d()(Ones({200, 3, 2, 1})), 2);  // [c, d, h, w]
  CheckWhole(StochasticDepth({.p = 0.5})(Ones({200, 3, 2})), 2);
}

TEST(ChannelDropoutTest, TellsWhichShapesItTakes) {
  EXPECT_EQ(ErrorOf([] { Dropout1d()(Ones({3})); }),
            "nn::Dropout1d at dropout1d: wants 2 or 3 dimensions, x is [3]");
  EXPECT_EQ(ErrorOf([] {
              Dropout2d()(Ones({3, 2}));
            }),
            "nn::Dropout2d at dropout2d: wants 3 or 4 dimensions, x is [3, 2]");
  EXPECT_EQ(ErrorOf([] { Dropout3d()(Tensor()); }),
            "nn::Dropout3d at dropout3d: x is an undefined tensor");
}

TEST(StochasticDepthTest, WithoutRowsTheWholeBranchHasOneFate) {
  ManualSeed(1);
  StochasticDepth depth({.p = 0.5, .per_row = false});
  int dropped = 0;
  for (int i = 0; i < 100; ++i) {
    const std::vector<float> y = depth(Ones({4})).ToVector<float>();
    EXPECT_EQ(y, std::vector<float>(4, y[0]));
    dropped += y[0] == 0 ? 1 : 0;
  }
  EXPECT_GT(dropped, 25);
  EXPECT_LT(dropped, 75);
}

TEST(RreluTest, DrawsSlopesInTrainingAlone) {
  ManualSeed(1);
  Rrelu rrelu({.lower = 0.25, .upper = 0.75});
  const Tensor x = Full({2000}, -1.0);
  const Tensor y = rrelu(x);
  EXPECT_GE(Amin(y).Item<float>(), -0.75f);
  EXPECT_LE(Amax(y).Item<float>(), -0.25f);
  EXPECT_NEAR(Mean(y).Item<float>(), -0.5, 5 * 0.5 / std::sqrt(12 * 2000.0));
  EXPECT_FALSE(rrelu(x).Equals(y));
  rrelu.Eval();
  EXPECT_EQ(Amin(rrelu(x)).Item<float>(), -0.5f);
  EXPECT_EQ(rrelu(Ones({1})).Item<float>(), 1);
}

TEST(RreluTest, RefusesSlopesInTheWrongOrderWhenItIsMade) {
  EXPECT_EQ(ErrorOf([] { Rrelu({.lower = 0.5, .upper = 0.25}); }),
            "nn::Rrelu: lower 0.5 must not be above upper 0.25, and both finite");
}

}  // namespace
}  // namespace firn::nn
