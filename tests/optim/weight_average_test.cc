#include "firn/optim/weight_average.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/autograd/graph/static_graph.h"
#include "firn/device/inner.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/pending.h"
#include "tests/error_of.h"

namespace firn::optim {
namespace {

using testing::ErrorOf;
using Values = std::vector<float>;

Tensor Param(Values values, DType dtype = DType::kF32) {
  return FromVector(std::move(values)).To(dtype).Detach().SetRequiresGrad();
}

void SetTo(Tensor& p, double value) {
  const NoGradScope no_grad;
  p.Fill(value);
}

Values AverageOf(WeightAverage& average, const Tensor& p) {
  const WeightAverage::Scope averaged(average);
  return p.ToVector<float>();
}

TEST(WeightAverageTest, MovesByOneMinusDecay) {
  Tensor p = Param({8});
  WeightAverage average({p}, {.decay = 0.75});
  average.Update();
  EXPECT_EQ(AverageOf(average, p), Values({8}));
  SetTo(p, 4);
  average.Update();
  EXPECT_EQ(AverageOf(average, p), Values({7}));
  EXPECT_EQ(p.ToVector<float>(), Values({4}));
}

TEST(WeightAverageTest, WithoutDecayIsTheMean) {
  Tensor p = Param({3, 3}), q = Param({1}, DType::kBF16);
  WeightAverage average({{"p", p}, {"q", q}}, {.decay = 0});
  for (double v : {1, 2, 6}) {
    SetTo(p, v);
    SetTo(q, 2 * v);
    average.Update();
  }
  EXPECT_EQ(AverageOf(average, p), Values({3, 3}));
  EXPECT_EQ(AverageOf(average, q), Values({6}));
  EXPECT_EQ(average.state_dict()["average.q"].dtype(), DType::kF32);
}

TEST(WeightAverageTest, FrozenUpdatesGoOn) {
  Tensor p = Param({0});
  WeightAverage average({p}, {.decay = 0});
  SetTo(p, 2);
  StaticGraph step = Freeze(
      [&](const Tensor& x) {
        const NoGradScope no_grad;
        p.CopyFrom(x);
        average.Update();
        return x;
      },
      Full({1}, 2.0));
  step(Full({1}, 5.0));
  step(Full({1}, 8.0));
  EXPECT_EQ(average.state_dict()["updates"].Item(), 3);
  EXPECT_EQ(AverageOf(average, p), Values({5}));
}

TEST(WeightAverageTest, Resumes) {
  Tensor p = Param({8});
  WeightAverage average({{"p", p}}, {.decay = 0.5});
  average.Update();
  SetTo(p, 4);
  WeightAverage resumed({{"p", p}}, {.decay = 0.5});
  resumed.LoadStateDict(average.state_dict());
  resumed.Update();
  EXPECT_EQ(AverageOf(resumed, p), Values({6}));
  StateDict wrong = average.state_dict();
  wrong.Set("average.p", Ones({2}));
  wrong.Insert("average.q", Ones({2}));
  EXPECT_EQ(ErrorOf([&] { resumed.LoadStateDict(wrong); }),
            "WeightAverage: the state dict does not fit: average.p is [2], not [1], unexpected "
            "average.q");
}

// A run goes on in this order if the module is loaded last, or sees its first input later.
TEST(WeightAverageTest, ResumesBeforeTheParameterHasItsSize) {
  Tensor p = Param({1, 2});
  WeightAverage average({{"p", p}}, {.decay = 0.5});
  average.Update();
  SetTo(p, 4);
  average.Update();
  const StateDict saved = average.state_dict();

  Tensor pending = inner::MakePending(DType::kF32, {});
  WeightAverage resumed({{"p", pending}}, {.decay = 0.5});
  EXPECT_THAT(ErrorOf([&] { resumed.Update(); }), ::testing::HasSubstr("has no size yet"));
  resumed.LoadStateDict(saved);
  EXPECT_THAT(ErrorOf([&] { resumed.Swap(); }), ::testing::HasSubstr("has no size yet"));
  EXPECT_EQ(resumed.state_dict()["average.p"].ToVector<float>(),
            saved["average.p"].ToVector<float>());
  inner::Materialize(pending, p.Clone());
  resumed.Update();
  average.Update();
  EXPECT_EQ(resumed.state_dict()["average.p"].ToVector<float>(),
            average.state_dict()["average.p"].ToVector<float>());

  Tensor other = inner::MakePending(DType::kF32, {});
  WeightAverage unlike({{"p", other}}, {.decay = 0.5});
  unlike.LoadStateDict(saved);
  inner::Materialize(other, Ones({3}));
  EXPECT_EQ(ErrorOf([&] { unlike.Update(); }),
            "WeightAverage: the average of p is [2], the parameter [3]");
}

TEST(WeightAverageTest, RefusesWhatMakesNoSense) {
  Tensor p = Param({8});
  EXPECT_EQ(ErrorOf([&] { WeightAverage({p}, {.decay = 1}); }),
            "WeightAverage: decay 1 must be in [0, 1)");
  EXPECT_EQ(ErrorOf([&] { WeightAverage({Zeros({1}, DType::kI64)}); }),
            "WeightAverage: parameter 0 is not floating");
  WeightAverage average({p});
  EXPECT_EQ(ErrorOf([&] { average.Swap(); }),
            "WeightAverage: there is no average before the first Update");
}

// The average keeps digits that a half type cannot hold.
TEST(WeightAverageTest, ScopesLeaveTheAveragesOfHalfTypes) {
  Tensor p = Param({1}, DType::kBF16);
  WeightAverage average({{"p", p}}, {.decay = 0.999});
  average.Update();
  SetTo(p, 1.0078125);
  average.Update();
  const double before = average.state_dict()["average.p"].Item();
  EXPECT_NE(before, 1);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(AverageOf(average, p), Values({1}));
  EXPECT_EQ(average.state_dict()["average.p"].Item(), before);
  EXPECT_EQ(p.ToVector<float>(), Values({1.0078125f}));
  const WeightAverage::Scope averaged(average);
  EXPECT_EQ(ErrorOf([&] { average.Update(); }),
            "WeightAverage: the averages stand where the parameters lie; swap first");
}

TEST(WeightAverageTest, AnEmptyStateStartsAnew) {
  Tensor p = Param({8});
  WeightAverage average({{"p", p}}, {.decay = 0.5});
  average.LoadStateDict(average.state_dict());
  average.Update();
  SetTo(p, 4);
  average.LoadStateDict({});
  EXPECT_EQ(ErrorOf([&] { average.Swap(); }),
            "WeightAverage: there is no average before the first Update");
  average.Update();
  EXPECT_EQ(AverageOf(average, p), Values({4}));
  EXPECT_EQ(ErrorOf([&] {
              WeightAverage({{"p", p}, {"p", p}});
            }),
            "WeightAverage: two parameters are named p");
}

}  // namespace
}  // namespace firn::optim
