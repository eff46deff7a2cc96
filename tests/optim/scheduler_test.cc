#include "firn/optim/scheduler.h"

#include <gtest/gtest.h>

#include <limits>

#include "firn/autograd/graph/static_graph.h"
#include "firn/optim/adam.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/copies.h"
#include "tests/error_of.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;

Tensor Param(float value) { return FromVector(std::vector<float>{value}).SetRequiresGrad(); }

TEST(SchedulerTest, SetsTheRatesOfAllGroups) {
  Sgd sgd({Param(1)}, {.lr = 8});
  sgd.AddGroup({Param(1)}, {.lr = 4});
  Scheduler scheduler(sgd, StepLr({.interval = 1, .gamma = 0.5}));
  EXPECT_EQ(sgd.lr(0), 8);
  scheduler.Step();
  scheduler.Step();
  EXPECT_EQ(scheduler.step(), 2);
  EXPECT_EQ(sgd.lr(0), 2);
  EXPECT_EQ(sgd.lr(1), 1);
  scheduler.SetStep(1);
  EXPECT_EQ(sgd.lr(0), 4);
}

TEST(SchedulerTest, LeavesLaterGroupsAlone) {
  Sgd sgd({Param(1)}, {.lr = 8});
  Scheduler scheduler(sgd, StepLr({.interval = 1, .gamma = 0.5}));
  sgd.AddGroup({Param(1)}, {.lr = 3});
  scheduler.Step();
  EXPECT_EQ(sgd.lr(0), 4);
  EXPECT_EQ(sgd.lr(1), 3);
}

TEST(SchedulerTest, AScheduleForEachGroup) {
  Sgd sgd({Param(1)}, {.lr = 8});
  sgd.AddGroup({Param(1)}, {.lr = 4});
  Scheduler scheduler(sgd, {ConstantLr({.factor = 0.5, .steps = 1}),
                            [](int64_t step, double lr) { return lr + double(step); }});
  EXPECT_EQ(sgd.lr(0), 4);
  scheduler.Step();
  EXPECT_EQ(sgd.lr(0), 8);
  EXPECT_EQ(sgd.lr(1), 5);
  EXPECT_EQ(ErrorOf([&] { Scheduler(sgd, std::vector<Schedule>{StepLr({})}); }),
            "Scheduler: there are 1 schedules for 2 groups");
}

TEST(SchedulerTest, FrozenStepsFollow) {
  Tensor w = Param(0);
  Sgd sgd({w}, {.lr = 1});
  Scheduler scheduler(sgd, StepLr({.interval = 1, .gamma = 0.5}));
  StaticGraph step = Freeze(
      [&](const Tensor& g) {
        w.SetGrad(Clone(g));
        sgd.Step();
        return g;
      },
      Ones({1}));
  const float before = w.ToVector<float>()[0];
  step(Ones({1}));
  scheduler.Step();
  step(Ones({1}));
  EXPECT_EQ(w.ToVector<float>()[0], before - 1.5f);
}

TEST(SchedulerTest, ResumesWithOtherOptions) {
  Sgd sgd({Param(1)}, {.lr = 8});
  Scheduler scheduler(sgd, StepLr({.interval = 1, .gamma = 0.5}));
  scheduler.Step();
  scheduler.Step();
  Sgd other({Param(1)}, {.lr = 100});
  Scheduler resumed(other, StepLr({.interval = 1, .gamma = 0.5}));
  resumed.LoadStateDict(scheduler.state_dict());
  EXPECT_EQ(other.lr(), 2);
  resumed.Step();
  EXPECT_EQ(other.lr(), 1);
}

TEST(SchedulerTest, LoadsAllOrNothing) {
  Sgd sgd({Param(1)}, {.lr = 8});
  Scheduler scheduler(sgd, StepLr({.interval = 1, .gamma = 0.5}));
  StateDict state = scheduler.state_dict();
  state.Set("base_lr", FromVector(std::vector<double>{1, 2}));
  EXPECT_EQ(ErrorOf([&] { scheduler.LoadStateDict(state); }),
            "Scheduler: the state dict does not fit: base_lr is [2]");
  state.Erase("base_lr");
  EXPECT_EQ(ErrorOf([&] { scheduler.LoadStateDict(state); }),
            "Scheduler: the state dict does not fit: no base_lr");
  state.Set("rate", Ones({1}));
  EXPECT_EQ(ErrorOf([&] { scheduler.LoadStateDict(state); }),
            "Scheduler: the state dict does not fit: no base_lr, unexpected rate");
  state = scheduler.state_dict();
  state.Set("step", FromVector(std::vector<int64_t>{-1}, Shape()));
  EXPECT_NE(ErrorOf([&] { scheduler.LoadStateDict(state); }), "");
  state.Set("step", FromVector(std::vector<int64_t>{3}, Shape()));
  state.Set("base_lr", FromVector(std::vector<double>{-5}));
  EXPECT_NE(ErrorOf([&] { scheduler.LoadStateDict(state); }).find("must not be negative"),
            std::string::npos);
  EXPECT_EQ(sgd.lr(), 8);
  EXPECT_EQ(scheduler.step(), 0);
}

// A rate that an optimizer refuses leaves all groups as they were.
TEST(SchedulerTest, ARefusedRateChangesNothing) {
  Sgd sgd({Param(1)}, {.lr = 8});
  sgd.AddGroup({Param(1)}, {.lr = 4});
  Scheduler scheduler(sgd,
                      [](int64_t step, double lr) { return lr == 4 && step > 0 ? -1 : lr - 1; });
  EXPECT_EQ(sgd.lr(0), 7);
  EXPECT_NE(ErrorOf([&] { scheduler.Step(); }), "");
  EXPECT_EQ(scheduler.step(), 0);
  EXPECT_EQ(sgd.lr(0), 7);
  EXPECT_EQ(ErrorOf([&] { scheduler.SetStep(-1); }), "Scheduler: step -1 must not be negative");
}

TEST(ReduceOnPlateauTest, ReducesAfterPatience) {
  Adam adam({Param(1)}, {.lr = 1});
  ReduceOnPlateau plateau(adam, {.factor = 0.5, .patience = 1, .cooldown = 1, .min_lr = 0.2});
  EXPECT_FALSE(plateau.Step(1));
  EXPECT_FALSE(plateau.Step(1));
  EXPECT_TRUE(plateau.Step(0.99995));  // not better enough to count
  EXPECT_EQ(adam.lr(), 0.5);
  EXPECT_FALSE(plateau.Step(1));  // cooling down
  EXPECT_FALSE(plateau.Step(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(plateau.Step(0.5));
  EXPECT_EQ(plateau.best(), 0.5);
  for (int i = 0; i < 20; ++i) plateau.Step(1);
  EXPECT_EQ(adam.lr(), 0.2);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(plateau.Step(1)) << "nothing is left to reduce";
}

TEST(ReduceOnPlateauTest, MaximizesAndComparesDifferences) {
  Adam adam({Param(1)}, {.lr = 1});
  ReduceOnPlateau plateau(
      adam, {.maximize = true, .factor = 0.5, .patience = 0, .threshold = 0.1, .absolute = true});
  EXPECT_FALSE(plateau.Step(-3));
  EXPECT_TRUE(plateau.Step(-2.95));
  EXPECT_FALSE(plateau.Step(-2));
  EXPECT_EQ(plateau.best(), -2);
}

TEST(ReduceOnPlateauTest, Resumes) {
  Adam adam({Param(1)}, {.lr = 1});
  ReduceOnPlateau whole(adam, {.patience = 1});
  whole.Step(1);
  whole.Step(1);
  ReduceOnPlateau resumed(adam, {.patience = 1});
  resumed.LoadStateDict(whole.state_dict());
  EXPECT_TRUE(resumed.Step(1));
  StateDict state = whole.state_dict();
  state.Erase("cooldown");
  EXPECT_EQ(ErrorOf([&] { whole.LoadStateDict(state); }),
            "ReduceOnPlateau: the state dict does not fit: no cooldown");
}

TEST(ReduceOnPlateauTest, RefusesOptionsThatMakeNoSense) {
  Adam adam({Param(1)}, {.lr = 1});
  EXPECT_EQ(ErrorOf([&] { ReduceOnPlateau(adam, {.factor = 1}); }),
            "ReduceOnPlateau: factor 1 must be in (0, 1)");
  EXPECT_NE(ErrorOf([&] { ReduceOnPlateau(adam, {.patience = -1}); }), "");
}

}  // namespace
}  // namespace firn::optim
