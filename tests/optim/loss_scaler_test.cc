// The rules of dynamic loss scaling.
#include "firn/optim/loss_scaler.h"

#include <cmath>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/optim/adam.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/copies.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;

class LossScalerTest : public ::testing::Test {
 protected:
  // A step on sum(factor * x), whose gradient is the factor.
  // Returns whether it was made.
  bool Step(double factor) {
    optimizer_.ZeroGrad();
    scaler_.Scale(Sum(Mul(x_, factor))).Backward();
    scaler_.Step(optimizer_);
    const bool skipped = scaler_.skipped();
    scaler_.Update();
    EXPECT_EQ(scaler_.skipped(), skipped) << "until the next step";
    return !skipped;
  }

  Tensor x_ = FromVector<float>({1, 2}).SetRequiresGrad();
  Sgd optimizer_{{x_}, {.lr = 0.5}};
  LossScaler scaler_{{.init_scale = 8, .growth_interval = 2}};
};

TEST_F(LossScalerTest, StepsAsWithoutIt) {
  EXPECT_TRUE(Step(2));
  EXPECT_EQ(x_.ToVector<float>(), (std::vector<float>{0, 1}));
  EXPECT_EQ(x_.grad().ToVector<float>(), (std::vector<float>{2, 2}));
}

TEST_F(LossScalerTest, LeavesAStepWithoutFiniteGradientsOutAndBacksOff) {
  EXPECT_FALSE(Step(INFINITY));
  EXPECT_EQ(scaler_.scale(), 4);
  EXPECT_FALSE(Step(NAN));
  EXPECT_EQ(scaler_.scale(), 2);
  EXPECT_EQ(x_.ToVector<float>(), (std::vector<float>{1, 2}));
  EXPECT_TRUE(Step(1));
}

TEST_F(LossScalerTest, ScalesThatOverflowAreFoundToo) {
  EXPECT_FALSE(Step(3e38)) << "8 * 3e38 is no float";
  EXPECT_FALSE(Step(1.7e38));
  EXPECT_TRUE(Step(1.1e38)) << "times 2 it is one";
}

TEST_F(LossScalerTest, GoesOnAfterManyStepsThatOverflow) {
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(Step(INFINITY));
  EXPECT_EQ(scaler_.scale(), 0x1p-14);
  EXPECT_TRUE(Step(2));
  EXPECT_EQ(x_.ToVector<float>(), (std::vector<float>{0, 1}));
  scaler_ = LossScaler({.init_scale = 4, .min_scale = 3});
  EXPECT_FALSE(Step(INFINITY));
  EXPECT_EQ(scaler_.scale(), 3);
  EXPECT_FALSE(Step(INFINITY));
  EXPECT_EQ(scaler_.scale(), 3);
  scaler_ = LossScaler({.init_scale = 2, .min_scale = 3});
  EXPECT_FALSE(Step(INFINITY));
  EXPECT_EQ(scaler_.scale(), 2) << "one below the least stays";
  EXPECT_NE(ErrorOf([] { LossScaler({.min_scale = 0}); }).find("min_scale 0 (want a normal number"),
            std::string::npos);
}

TEST_F(LossScalerTest, GrowsAfterGoodStepsInARow) {
  Step(1);
  EXPECT_EQ(scaler_.scale(), 8);
  Step(1);
  EXPECT_EQ(scaler_.scale(), 16);
  Step(1);
  Step(INFINITY);
  Step(1);
  EXPECT_EQ(scaler_.scale(), 8) << "the row was broken";
}

TEST_F(LossScalerTest, DividesGradientsOnce) {
  scaler_.Scale(Sum(Mul(x_, 3.0))).Backward();
  EXPECT_EQ(x_.grad().ToVector<float>(), (std::vector<float>{24, 24}));
  scaler_.Unscale(optimizer_);
  EXPECT_EQ(x_.grad().ToVector<float>(), (std::vector<float>{3, 3}));
  EXPECT_NE(ErrorOf([&] { scaler_.Unscale(optimizer_); }).find("divided by the scale before"),
            std::string::npos);
  scaler_.Step(optimizer_);
  EXPECT_FALSE(scaler_.skipped());
  EXPECT_EQ(x_.grad().ToVector<float>(), (std::vector<float>{3, 3}));
}

TEST_F(LossScalerTest, LeavesStateOfTheOptimizerAlone) {
  Adam adam({x_}, {.lr = 0.1});
  scaler_.Scale(Sum(Mul(x_, 2.0))).Backward();
  scaler_.Step(adam);
  scaler_.Update();
  const std::vector<float> x = x_.ToVector<float>();
  const StateDict before = adam.state_dict();
  const std::vector<float> mean = before["state.0.exp_avg"].ToVector<float>();
  adam.ZeroGrad();
  scaler_.Scale(Sum(Mul(x_, NAN))).Backward();
  scaler_.Step(adam);
  EXPECT_TRUE(scaler_.skipped());
  EXPECT_EQ(x_.ToVector<float>(), x);
  EXPECT_EQ(adam.state_dict()["state.0.exp_avg"].ToVector<float>(), mean);
  EXPECT_EQ(adam.state_dict()["state.0.step"].Item(), 1);
}

TEST_F(LossScalerTest, EachOptimizerSkipsForItsOwnGradients) {
  Tensor y = FromVector<float>({5}).SetRequiresGrad();
  Sgd other({y}, {.lr = 1});
  optimizer_.ZeroGrad();
  scaler_.Scale(Add(Sum(Mul(x_, INFINITY)), Sum(y))).Backward();
  scaler_.Step(optimizer_);
  scaler_.Step(other);
  scaler_.Update();
  EXPECT_EQ(x_.ToVector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{4}));
  EXPECT_EQ(scaler_.scale(), 4) << "once, although only one of them was left out";
}

TEST_F(LossScalerTest, DividesAGradientThatTwoParametersShareOnce) {
  Tensor y = FromVector<float>({5, 6}).SetRequiresGrad();
  Sgd both({x_, y}, {.lr = 1});
  scaler_.Scale(Sum(Add(x_, y))).Backward();
  scaler_.Unscale(both);
  EXPECT_EQ(x_.grad().ToVector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(y.grad().ToVector<float>(), (std::vector<float>{1, 1}));
}

TEST_F(LossScalerTest, UpdateWantsAStep) {
  EXPECT_NE(ErrorOf([&] { scaler_.Update(); }).find("loss scaler: Update without a Step"),
            std::string::npos);
  Step(1);
  EXPECT_NE(ErrorOf([&] { scaler_.Update(); }), "");
}

TEST_F(LossScalerTest, GoesOnFromAStateDict) {
  Step(INFINITY);
  Step(1);
  const StateDict state = scaler_.state_dict();
  EXPECT_EQ(state["scale"].Item(), 4);
  EXPECT_EQ(state["_growth_tracker"].Item(), 1);
  EXPECT_EQ(state["growth_interval"].Item(), 2);
  LossScaler next({.init_scale = 2, .growth_factor = 3, .growth_interval = 7});
  next.LoadStateDict(state);
  scaler_ = next;
  EXPECT_EQ(scaler_.scale(), 4);
  Step(1);
  EXPECT_EQ(scaler_.scale(), 8) << "the second good step, and the saved one's growth factor";
}

TEST_F(LossScalerTest, RefusesStateDictsThatDoNotFit) {
  const auto error = [&](const StateDict& state) {
    return ErrorOf([&] { scaler_.LoadStateDict(state); });
  };
  StateDict wrong;
  wrong.Insert("scale", FromVector<float>({1, 2}));
  wrong.Insert("growth_factor", FromVector<double>({4}));
  wrong.Insert("growth", FromVector<double>({4}));
  wrong.Insert("backoff_factor", FromVector<double>({0.5}));
  wrong.Insert("growth_interval", FromVector<double>({5}));
  EXPECT_EQ(
      error(wrong),
      "loss scaler: the state dict does not fit: scale is [2], no _growth_tracker, unexpected "
      "growth");
  StateDict senseless;
  for (const auto& [name, tensor] : scaler_.state_dict()) senseless.Insert(name, Clone(tensor));
  senseless.Find("backoff_factor")->CopyFrom(FromVector(std::vector<double>{3}, Shape()));
  EXPECT_NE(error(senseless).find("backoff_factor 3 (want 0 to 1)"), std::string::npos);
  EXPECT_EQ(scaler_.scale(), 8);
  EXPECT_EQ(scaler_.state_dict()["backoff_factor"].Item(), 0.5);
}

TEST(LossScalerGraphTest, FrozenStepsDecideAsOrdinaryOnes) {
  constexpr int kSteps = 20;
  struct Trainer {
    Tensor x = FromVector<float>({1, 2, 3}).SetRequiresGrad();
    Adam adam{{x}, {.lr = 0.05}};
    LossScaler scaler{{.init_scale = 1024, .growth_interval = 3}};
    Tensor Step(const Tensor& factor) {
      adam.ZeroGrad();
      const Tensor loss = Sum(Mul(Mul(x, x), factor));
      scaler.Scale(loss).Backward();
      scaler.Step(adam);
      scaler.Update();
      return loss;
    }
  } plain, frozen;
  const auto factor = [](int i) {
    const float f = i == 4 || i == 5 ? INFINITY : i == 11 ? NAN : 0.1f * static_cast<float>(i + 1);
    return FromVector<float>({f, 1, 2});
  };
  plain.Step(factor(0));
  StaticGraph step = Freeze([&](const Tensor& f) { return frozen.Step(f); }, factor(0));
  std::vector<double> scales;
  for (int i = 1; i < kSteps; ++i) {
    const Tensor f = factor(i);
    plain.Step(f);
    step(f);
    EXPECT_EQ(frozen.x.ToVector<float>(), plain.x.ToVector<float>()) << "step " << i;
    EXPECT_EQ(frozen.scaler.scale(), plain.scaler.scale()) << "step " << i;
    EXPECT_EQ(frozen.scaler.skipped(), i == 4 || i == 5 || i == 11) << "step " << i;
    scales.push_back(plain.scaler.scale());
  }
  EXPECT_EQ(frozen.adam.state_dict()["state.0.step"].Item(), kSteps - 3);
  EXPECT_EQ(scales, (std::vector<double>{1024, 2048, 2048, 1024, 512, 512, 512, 1024, 1024, 1024,
                                         512, 512, 512, 1024, 1024, 1024, 2048, 2048, 2048}));
}

TEST(LossScalerOptionsTest, AreChecked) {
  EXPECT_NE(ErrorOf([] { LossScaler({.init_scale = 0}); }).find("init_scale 0 (want > 0)"),
            std::string::npos);
  EXPECT_NE(ErrorOf([] { LossScaler({.growth_factor = 1}); }), "");
  EXPECT_NE(ErrorOf([] { LossScaler({.backoff_factor = 1}); }), "");
  EXPECT_NE(ErrorOf([] { LossScaler({.growth_interval = 0}); }), "");
}

}  // namespace
}  // namespace firn::optim
