#include "firn/optim/optimizer.h"

#include <gtest/gtest.h>

#include <limits>

#include "firn/device/inner.h"
#include "firn/device/testing.h"
#include "firn/optim/adam.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/storage.h"
#include "tests/error_of.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;
using Values = std::vector<float>;

Tensor Param(Values values) { return FromVector(std::move(values)).SetRequiresGrad(); }

// Gives every parameter a gradient that depends on `step`, and steps.
void Train(Optimizer& optimizer, int first, int count) {
  for (int step = first; step < first + count; ++step) {
    float g = 0.1f * static_cast<float>(step + 1);
    for (Tensor& p : optimizer.parameters()) p.SetGrad(FullLike(p, g += 0.7f));
    optimizer.Step();
  }
}

TEST(OptimizerTest, StepsAlongTheGradientOfALoss) {
  Tensor w = Param({1, 2});
  Sgd sgd({w}, {.lr = 0.1});
  Sum(Mul(w, w)).Backward();
  sgd.Step();
  EXPECT_EQ(w.ToVector<float>(), (Values{0.8f, 1.6f}));
  sgd.ZeroGrad();
  EXPECT_FALSE(w.grad().defined());
  EXPECT_TRUE(w.requires_grad());
}

// A convolution's result lies in blocks of channels, and a leaf may be made of it.
TEST(OptimizerTest, MovesParametersThatLieInBlocksOfChannels) {
  const Tensor values = FromVector(Values{1, 2, 3, 4, 5, 6, 7, 8}, {1, 4, 2});
  for (const int block : {2, 4}) {
    Tensor plain = Clone(values).SetRequiresGrad();
    Tensor blocked = Reordered(values, block)->SetRequiresGrad();
    Sgd sgd({plain, blocked}, {.lr = 0.1});
    for (int step = 0; step < 2; ++step) {
      for (Tensor& w : sgd.parameters()) Sum(Mul(w, Mul(w, w))).Backward();
      sgd.Step();
      sgd.ZeroGrad();
    }
    EXPECT_EQ(blocked.ToVector<float>(), plain.ToVector<float>());
    EXPECT_NE(blocked.ToVector<float>(), values.ToVector<float>());
  }
}

TEST(OptimizerTest, SkipsParametersWithoutAGradient) {
  Tensor used = Param({1}), unused = Param({1});
  Adam adam({used, unused}, {.weight_decay = 0.1});
  used.SetGrad(Ones({1}));
  adam.Step();
  EXPECT_EQ(unused.ToVector<float>(), (Values{1}));
  EXPECT_FALSE(adam.state_dict().Contains("state.1.step"));
  // A late parameter has its own count of steps: its first step is corrected as a first step.
  unused.SetGrad(Ones({1}));
  adam.Step();
  EXPECT_EQ(adam.state_dict()["state.0.step"].Item(), 2);
  EXPECT_EQ(adam.state_dict()["state.1.step"].Item(), 1);
}

TEST(OptimizerTest, GroupsHaveTheirOwnOptions) {
  Tensor a = Param({1}), b = Param({1});
  Sgd sgd({a}, {.lr = 0.5});
  sgd.AddGroup({b}, {.lr = 0.25, .momentum = 0.9});
  EXPECT_EQ(sgd.num_groups(), 2u);
  for (Tensor* p : {&a, &b}) p->SetGrad(Ones({1}));
  sgd.Step();
  EXPECT_EQ(a.ToVector<float>(), (Values{0.5f}));
  EXPECT_EQ(b.ToVector<float>(), (Values{0.75f}));
  sgd.SetLr(1, 0);
  sgd.Step();
  EXPECT_EQ(a.ToVector<float>(), (Values{0}));
  EXPECT_EQ(b.ToVector<float>(), (Values{0.75f}));
  EXPECT_EQ(sgd.lr(0), 0.5);
  EXPECT_EQ(sgd.lr(1), 0);
  EXPECT_THROW(sgd.lr(2), Error);
}

TEST(OptimizerTest, SetsTheRatesOfAllGroupsOrOfNone) {
  Sgd sgd({Param({1})}, {.lr = 1});
  sgd.AddGroup({Param({1})}, {.lr = 2});
  sgd.SetLr({3, 4});
  EXPECT_EQ(sgd.lr(0), 3);
  EXPECT_EQ(sgd.lr(1), 4);
  EXPECT_NE(ErrorOf([&] { sgd.SetLr({5, -1}); }), "");
  EXPECT_EQ(sgd.lr(0), 3);
  EXPECT_EQ(ErrorOf([&] { sgd.SetLr({1, 2, 3}); }), "Sgd: 3 rates for 2 groups");
}

TEST(OptimizerTest, RefusesAParameterInTwoGroups) {
  Tensor a = Param({1}), b = Param({1});
  Sgd sgd({{"a", a}}, {});
  EXPECT_EQ(ErrorOf([&] {
              sgd.AddGroup({{"b", b}, {"again", a}}, {});
            }),
            "optimizer: parameter again is given twice, in one group or in two");
  EXPECT_EQ(sgd.num_groups(), 1u);
  EXPECT_THROW(Sgd({a, a}, {}), Error);
}

// Two networks of one class have the same names.
TEST(OptimizerTest, NamesThatAnEarlierGroupHasGetTheGroupsNumber) {
  const Tensor a = Param({1}), b = Param({1, 2}), c = Param({1, 2, 3});
  Sgd sgd({{"fc.weight", a}}, {.lr = 0.1, .momentum = 0.9});
  sgd.AddGroup({{"fc.weight", b}, {"fc.bias", c}}, {.lr = 0.1, .momentum = 0.9});
  for (const Tensor& p : {a, b, c}) Tensor(p).SetGrad(OnesLike(p));
  sgd.Step();
  const StateDict state = sgd.state_dict();
  EXPECT_EQ(state["state.fc.weight.momentum_buffer"].shape(), Shape({1}));
  EXPECT_EQ(state["state.1.fc.weight.momentum_buffer"].shape(), Shape({2}));
  EXPECT_EQ(state["state.fc.bias.momentum_buffer"].shape(), Shape({3}));
  EXPECT_EQ(ErrorOf([&] {
              Sgd({{"w", a}, {"w", b}}, {});
            }),
            "Sgd: two parameters are named w; their state could not be told apart");
}

TEST(OptimizerTest, RefusesWhatCannotBeMoved) {
  Tensor a = Param({1});
  EXPECT_EQ(ErrorOf([&] { Sgd({Tensor()}, {}); }), "optimizer: parameter 0 is undefined");
  EXPECT_EQ(ErrorOf([&] { Sgd({Zeros({1}, DType::kI64)}, {}); }),
            "optimizer: parameter 0 is not floating");
  EXPECT_EQ(ErrorOf([&] { Sgd({Mul(a, 2)}, {}); }),
            "optimizer: parameter 0 was computed: only leaves can be moved");
  EXPECT_THROW(Sgd({a}, {.lr = -1}), Error);
  EXPECT_THROW(Sgd({a}, {.nesterov = true}), Error);
  EXPECT_THROW(Adam({a}, {.beta1 = 1}), Error);
}

TEST(OptimizerTest, ResumesBitByBit) {
  Tensor a = Param({1, 2}), b = Param({3});
  Adam whole({{"a", a}, {"b", b}}, {.lr = 0.1, .weight_decay = 0.01, .amsgrad = true});
  Train(whole, 0, 3);
  whole.SetLr(0.05);
  // Copies, as a file would hold them.
  StateDict saved;
  for (const auto& [name, t] : whole.state_dict()) saved.Insert(name, Clone(t));
  Tensor a2 = Clone(a.Detach()).SetRequiresGrad(), b2 = Clone(b.Detach()).SetRequiresGrad();
  Train(whole, 3, 3);

  Adam resumed({{"a", a2}, {"b", b2}});  // other options: the state dict has the right ones
  resumed.LoadStateDict(saved);
  EXPECT_EQ(resumed.lr(), 0.05);
  Train(resumed, 3, 3);
  EXPECT_TRUE(a2.Equals(a));
  EXPECT_TRUE(b2.Equals(b));
}

TEST(OptimizerTest, LoadsAllOrNothing) {
  Tensor a = Param({1, 2});
  Adam adam({{"a", a}}, {.lr = 0.1});
  Train(adam, 0, 1);
  StateDict state;
  for (const auto& [name, t] : adam.state_dict()) state.Insert(name, Clone(t));
  const std::vector<double> before = adam.state_dict()["state.a.exp_avg"].ToVector<double>();
  state.Set("groups.0.beta1", FromVector(std::vector<double>{0.5}, Shape()));
  state.Set("state.a.exp_avg_sq", Ones({3}));
  state.Erase("groups.0.eps");
  state.Insert("state.b.step", FromVector<int64_t>({1}, Shape()));
  EXPECT_EQ(ErrorOf([&] { adam.LoadStateDict(state); }),
            "Adam: the state dict does not fit: no groups.0.eps, state.a.exp_avg_sq is [3], the "
            "parameter [2], unexpected state.b.step");
  EXPECT_EQ(adam.state_dict()["groups.0.beta1"].Item(), 0.9);
  EXPECT_EQ(adam.state_dict()["state.a.exp_avg"].ToVector<double>(), before);
}

// A copy of everything, as a file would hold it.
StateDict Saved(const Optimizer& optimizer) {
  StateDict saved;
  for (const auto& [name, t] : optimizer.state_dict()) saved.Insert(name, Clone(t));
  return saved;
}

void ExpectSame(const StateDict& got, const StateDict& want) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, t] : want) EXPECT_TRUE(got[name].Equals(t)) << name;
}

TEST(OptimizerTest, RefusesToLoadOptionsThatMakeNoSense) {
  Tensor a = Param({1, 2});
  Adam adam({{"a", a}}, {.lr = 0.1});
  Train(adam, 0, 1);
  const StateDict before = Saved(adam);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<const char*, double>> senseless = {{"groups.0.lr", -1},
                                                                 {"groups.0.lr", nan},
                                                                 {"groups.0.beta1", 1},
                                                                 {"groups.0.eps", nan},
                                                                 {"groups.0.beta2", nan}};
  for (const auto& [name, value] : senseless) {
    StateDict state = Saved(adam);
    state.Set("groups.0.weight_decay", FromVector(std::vector<double>{0.5}, Shape()));
    state.Set(name, FromVector(std::vector<double>{value}, Shape()));
    EXPECT_NE(ErrorOf([&] { adam.LoadStateDict(state); }).find("must"), std::string::npos) << name;
    ExpectSame(adam.state_dict(), before);
  }
  EXPECT_THROW(Sgd({a}, {.lr = nan}), Error);
  EXPECT_THROW(Sgd({a}, {.dampening = nan}), Error);
}

TEST(OptimizerTest, RunsOutOfMemoryInALoadWithoutAChange) {
  Tensor a = Param({1, 2}), b = Param({1, 2});
  Adam other({{"a", a}, {"b", b}}, {.lr = 0.5, .beta1 = 0.5, .amsgrad = true});
  Train(other, 0, 3);
  const StateDict state = Saved(other);
  Adam adam({{"a", a}, {"b", b}}, {.lr = 0.1});
  Train(adam, 0, 1);
  const StateDict before = Saved(adam);
  int failures = 0;
  for (int64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    bool triggered = false;
    {
      const ScopedAllocationFailure failure(n);
      ErrorOf([&] { adam.LoadStateDict(state); });
      triggered = failure.triggered();
    }
    if (!triggered) break;
    ++failures;
    ExpectSame(adam.state_dict(), before);
  }
  EXPECT_GE(failures, 8);  // a step and three states each
  ExpectSame(adam.state_dict(), state);
}

TEST(OptimizerTest, LoadsIntoTheStateThatCapturedStepsHold) {
  Tensor a = Param({1, 2});
  Adam adam({{"a", a}}, {.lr = 0.1});
  Train(adam, 0, 1);
  const StateDict saved = Saved(adam), held = adam.state_dict();
  Train(adam, 1, 2);
  adam.LoadStateDict(saved);
  for (const char* name : {"state.a.exp_avg", "state.a.exp_avg_sq", "state.a.step"}) {
    EXPECT_EQ(adam.state_dict()[name].impl()->data, held[name].impl()->data) << name;
  }
  ExpectSame(adam.state_dict(), saved);
}

TEST(OptimizerTest, ParametersMayJoinWhileOthersKeepTheirState) {
  Tensor a = Param({1}), b = Param({1});
  Adam adam({{"a", a}});
  Train(adam, 0, 2);
  adam.SetParameters({{"a", a}, {"b", b}}, {.retain_state = true});
  Train(adam, 2, 1);
  EXPECT_EQ(adam.state_dict()["state.a.step"].Item(), 3);
  EXPECT_EQ(adam.state_dict()["state.b.step"].Item(), 1);
  adam.SetParameters({{"a", a}});
  EXPECT_FALSE(adam.state_dict().Contains("state.a.step"));
}

TEST(OptimizerTest, PicksUpPendingParametersWhenTheyMaterialise) {
  Tensor pending = MakePending(DType::kF32, Device::Cpu()).SetRequiresGrad();
  Tensor other = Param({1});
  Sgd sgd({pending}, {.lr = 1});
  EXPECT_EQ(ErrorOf([&] { sgd.Step(); }).find("Sgd: parameter (unnamed) has no size yet"), 0);
  sgd.AddGroup({other}, {.lr = 1});
  other.SetGrad(Ones({1}));
  sgd.Step();  // the pending one is skipped as any without a gradient
  EXPECT_EQ(other.ToVector<float>(), (Values{0}));
  Materialize(pending, Ones({2}));
  pending.SetGrad(Ones({2}));
  sgd.Step();
  EXPECT_EQ(pending.ToVector<float>(), (Values{0, 0}));
}

TEST(OptimizerTest, CountsUnnamedParametersAcrossGroups) {
  Tensor a = Param({1}), b = Param({1});
  Sgd sgd({a}, {.momentum = 0.9});
  sgd.AddGroup({b}, {.momentum = 0.9});
  Train(sgd, 0, 1);
  EXPECT_TRUE(sgd.state_dict().Contains("state.0.momentum_buffer"));
  EXPECT_TRUE(sgd.state_dict().Contains("state.1.momentum_buffer"));
}

TEST(OptimizerTest, FollowsAParameterToAnotherDtype) {
  Tensor a = Param({1, 2});
  Adam adam({a});
  Train(adam, 0, 1);
  const std::vector<double> m = adam.state_dict()["state.0.exp_avg"].ToVector<double>();
  // The same as Module::To does.
  const Tensor wide = FromVector(a.ToVector<double>());
  a.ZeroGrad();
  a.impl()->storage = wide.impl()->storage;
  a.impl()->data = wide.impl()->data;
  a.impl()->spec = wide.spec();
  Train(adam, 1, 1);
  EXPECT_EQ(adam.state_dict()["state.0.exp_avg"].dtype(), DType::kF64);
  EXPECT_EQ(adam.state_dict()["state.0.step"].Item(), 2);
}

TEST(OptimizerTest, RemovesParametersByName) {
  Tensor a = Param({1}), b = Param({1});
  Adam adam({{"a", a}, {"b", b}}, {.lr = 0.1});
  Train(adam, 0, 1);
  EXPECT_EQ(ErrorOf([&] {
              adam.RemoveParameters({"a", "c"});
            }),
            "Adam: there is no parameter c to remove; there are a, b");
  EXPECT_EQ(adam.parameters().size(), 2u);
  adam.RemoveParameters({"a"});
  EXPECT_EQ(adam.parameters().size(), 1u);
  EXPECT_FALSE(adam.state_dict().Contains("state.a.step"));
  EXPECT_TRUE(adam.state_dict().Contains("state.b.step"));
  adam.ClearParameters();
  adam.Step();
  EXPECT_EQ(adam.parameters().size(), 0u);
  EXPECT_EQ(adam.num_groups(), 1u);
}

TEST(OptimizerTest, HooksRunBeforeAndAfterEveryStep) {
  Tensor a = Param({1});
  Sgd sgd({a}, {.lr = 1});
  std::vector<float> seen;
  sgd.AddHooks([&] { seen.push_back(a.ToVector<float>()[0]); },
               [&] { seen.push_back(a.ToVector<float>()[0]); });
  sgd.AddHooks(nullptr, [&] { seen.push_back(100); });
  a.SetGrad(Ones({1}));
  sgd.Step();
  EXPECT_EQ(seen, (Values{1, 0, 100}));
}

// The squares of gradients below 2^-12 are 0 in f16, and steps divided by them infinite.
TEST(OptimizerTest, StateOfHalfTypesIsInF32) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    Tensor half = Param({1}).To(dtype).Detach().SetRequiresGrad();
    Tensor whole = Param({1}).To(DType::kF64).Detach().SetRequiresGrad();
    Adam adam({{"half", half}, {"whole", whole}}, {.lr = 0.25, .eps = 1e-12});
    for (Tensor* p : {&half, &whole}) {
      p->SetGrad(FullLike(*p, 0x1p-14));
      adam.Step();
    }
    EXPECT_EQ(adam.state_dict()["state.half.exp_avg_sq"].dtype(), DType::kF32);
    EXPECT_EQ(adam.state_dict()["state.whole.exp_avg_sq"].dtype(), DType::kF64);
    EXPECT_NEAR(half.ToVector<float>()[0], 0.5f, 0.01f);  // two steps of lr
  }
}

TEST(OptimizerTest, RefusesStateThatMakesNoSense) {
  Tensor a = Param({1});
  Adam adam({{"a", a}});
  Train(adam, 0, 1);
  StateDict state = Saved(adam);
  state.Set("state.a.step", FromVector<int64_t>({-1}, Shape()));
  EXPECT_NE(ErrorOf([&] { adam.LoadStateDict(state); }).find("state.a.step is -1"),
            std::string::npos);
}

}  // namespace
}  // namespace firn::optim
