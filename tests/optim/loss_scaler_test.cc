// The rules of dynamic loss scaling.
#include "optim/loss_scaler.h"

#include <cmath>
#include <vector>

#include "autograd/backward.h"
#include "gtest/gtest.h"
#include "optim/sgd.h"
#include "tensor/from.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sum.h"
#include "tests/error_of.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;

class LossScalerTest : public ::testing::Test {
 protected:
  // A step on sum(factor * x), whose gradient is the factor.
  bool Step(double factor) {
    optimizer_.ZeroGrad();
    scaler_.Scale(Sum(Mul(x_, factor))).Backward();
    const bool stepped = scaler_.Step(optimizer_);
    scaler_.Update();
    return stepped;
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
  EXPECT_TRUE(scaler_.Step(optimizer_));
  EXPECT_EQ(x_.grad().ToVector<float>(), (std::vector<float>{3, 3}));
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
