// Frozen runs and gradients: whatever grad() held when the run was captured and whatever it holds
// now, the numbers are those of the ordinary program, or an error comes before the first wrong one.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/cpu_allocator.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/optim/clip.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"
#include "tests/footguns/twin.h"

namespace firn {
namespace {

using testing::ExpectSame;
using testing::ExpectSameTwins;
using testing::Twin;
using Values = std::vector<float>;

// What grad() may hold when a run is captured.
enum class Before { kUndefined, kZeros, kLeftOver, kTransposed, kHeldByOthers };

Tensor PutGradient(Twin& t, Before before) {
  for (Tensor p : t.layer.parameters()) p.ZeroGrad();
  Tensor weight = t.layer.weight(), held;
  switch (before) {
    case Before::kUndefined:
      break;
    case Before::kZeros:
      for (Tensor p : t.layer.parameters()) p.SetGrad(ZerosLike(p));
      break;
    case Before::kLeftOver:
      t.Micro(Full({4, 3}, 0.3));
      break;
    case Before::kTransposed:
      weight.SetGrad(Arange(6).To(DType::kF32).Reshape({3, 2}).T());
      break;
    case Before::kHeldByOthers:
      held = Full({2, 3}, 9.0);
      weight.SetGrad(held);
      break;
  }
  return held;
}

using Method = Tensor (Twin::*)(const Tensor&);

class FoundGradientsTest : public ::testing::TestWithParam<std::tuple<Before, int>> {
 protected:
  static constexpr Method kRuns[] = {&Twin::Micro, &Twin::StepWithoutClearing,
                                     &Twin::StepThatClearsLast};
};

// Frozen, ordinary and frozen runs again, with gradients cleared between some of them.
TEST_P(FoundGradientsTest, FrozenRunsAreTheOrdinaryOnes) {
  const auto [before, which] = GetParam();
  const Method run = kRuns[which];
  Twin frozen, ordinary;
  const Tensor held = PutGradient(frozen, before);
  PutGradient(ordinary, before);
  const std::vector<Tensor> inputs = {Full({4, 3}, 1.0), Full({4, 3}, -2.0), Zeros({4, 3}),
                                      Arange(12).To(DType::kF32).Reshape({4, 3})};
  StaticGraph graph = Freeze([&](const Tensor& x) { return (frozen.*run)(x); }, inputs[0]);
  ExpectSame(graph.TakeFirst(), (ordinary.*run)(inputs[0]), "the captured loss");
  ExpectSameTwins(frozen, ordinary);
  for (int round = 0; round < 3; ++round) {
    for (const Tensor& x : inputs) {
      SCOPED_TRACE(round);
      ExpectSame(graph(x), (ordinary.*run)(x), "loss");
      ExpectSameTwins(frozen, ordinary);
    }
    (frozen.*run)(inputs[1]);
    (ordinary.*run)(inputs[1]);
    if (round == 0) {
      frozen.adam.ZeroGrad();
      ordinary.adam.ZeroGrad();
    } else {
      PutGradient(frozen, Before::kTransposed);
      PutGradient(ordinary, Before::kTransposed);
    }
  }
  if (held.defined()) {
    EXPECT_TRUE(held.Equals(Full({2, 3}, 9.0)));
  }
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<Before, int>>& info) {
  const char* const before[] = {"Undefined", "Zeros", "LeftOver", "Transposed", "HeldByOthers"};
  const char* const run[] = {"Micro", "WithoutClearing", "ClearingLast"};
  return std::string(before[static_cast<int>(std::get<0>(info.param))]) +
         run[std::get<1>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(
    , FoundGradientsTest,
    ::testing::Combine(::testing::Values(Before::kUndefined, Before::kZeros, Before::kLeftOver,
                                         Before::kTransposed, Before::kHeldByOthers),
                       ::testing::Values(0, 1, 2)),
    NameOf);

// Several backward passes in one captured run, and a graph of each kind for one model.
TEST(FrozenGradientsTest, MicroBatchesAddUp) {
  Twin frozen, ordinary;
  const Tensor x = Full({4, 3}, 1.0), y = Full({4, 3}, -0.5);
  const auto two = [](Twin& t, const Tensor& a, const Tensor& b) {
    t.Micro(a);
    return t.Micro(b);
  };
  StaticGraph both =
      Freeze([&](const Tensor& a, const Tensor& b) { return two(frozen, a, b); }, x, y);
  StaticGraph micro = Freeze([&](const Tensor& a) { return frozen.Micro(a); }, x);
  two(ordinary, x, y);
  ordinary.Micro(x);
  ExpectSameTwins(frozen, ordinary);
  for (int i = 0; i < 3; ++i) {
    both(y, x);
    micro(y);
    two(ordinary, y, x);
    ordinary.Micro(y);
    ExpectSameTwins(frozen, ordinary);
    if (i != 1) continue;
    frozen.adam.Step();
    ordinary.adam.Step();
    frozen.adam.ZeroGrad();
    ordinary.adam.ZeroGrad();
  }
}

TEST(FrozenGradientsTest, ClippedGradientsAddUp) {
  Twin frozen, ordinary;
  const Tensor x = Full({4, 3}, 1.0);
  const auto run = [](Twin& t, const Tensor& a) {
    Tensor loss = t.Micro(a);
    optim::ClipGradNorm(t.layer.parameters(), 0.25);
    return loss;
  };
  StaticGraph graph = Freeze([&](const Tensor& a) { return run(frozen, a); }, x);
  run(ordinary, x);
  for (int i = 0; i < 3; ++i) {
    graph(x * i);
    run(ordinary, x * i);
    ExpectSameTwins(frozen, ordinary);
  }
}

// A frozen run, like an ordinary pass, never changes a gradient of which the program keeps a
// handle.
TEST(FrozenGradientsTest, AGradientThatIsKeptStaysAsItIs) {
  Twin t;
  const Tensor x = Full({4, 3}, 1.0);
  StaticGraph micro = Freeze([&](const Tensor& a) { return t.Micro(a); }, x);
  StaticGraph fresh = Freeze(
      [&](const Tensor& a) {
        t.adam.ZeroGrad();
        return t.Micro(a);
      },
      x);
  for (StaticGraph* graph : {&micro, &fresh, &micro, &fresh}) {
    (*graph)(x);
    const Tensor kept = t.layer.weight().grad(), part = t.layer.bias().grad()[{Range(1, 2)}];
    const Values want = kept.ToVector<float>(), want_part = part.ToVector<float>();
    (*graph)(x * 3);
    EXPECT_EQ(kept.ToVector<float>(), want);
    EXPECT_EQ(part.ToVector<float>(), want_part);
    EXPECT_NE(t.layer.weight().grad().ToVector<float>(), want);
  }
}

// If the program keeps no handle, the gradient's memory stays the same: a run allocates nothing for
// it.
TEST(FrozenGradientsTest, AGradientThatNobodyKeepsStaysWhereItIs) {
  Twin t;
  const Tensor x = Full({4, 3}, 1.0);
  StaticGraph micro = Freeze([&](const Tensor& a) { return t.Micro(a); }, x);
  micro(x);
  const void* const place = t.layer.weight().grad().impl()->data;
  const int64_t before = CpuAllocator().stats().allocations;
  Tensor out;
  ASSERT_TRUE(micro.Run({&x, 1}, absl::MakeSpan(&out, 1)).ok());  // makes its result
  const int64_t with_result = CpuAllocator().stats().allocations;
  ASSERT_TRUE(micro.Run({&x, 1}, absl::MakeSpan(&out, 1)).ok());
  EXPECT_EQ(CpuAllocator().stats().allocations, with_result);
  EXPECT_LE(with_result - before, 1);
  EXPECT_EQ(t.layer.weight().grad().impl()->data, place);
}

// The gradient stays within the graph, and must not be taken for a missing one.
TEST(FrozenGradientsTest, AGradientThatAFrozenStepKeepsIsNotTakenForNone) {
  Twin t;
  const Tensor x = Full({4, 3}, 1.0);
  StaticGraph step = Freeze([&](const Tensor& a) { return t.Step(a); }, x);
  step(x);
  const Values weight = t.layer.weight().ToVector<float>();
  t.Micro(x);  // adds to a gradient that no code may read
  for (const std::string& why : {testing::StatusOf([&] { t.layer.weight().grad(); }).ToString(),
                                 testing::StatusOf([&] { t.adam.Step(); }).ToString()}) {
    EXPECT_NE(why.find("parameter linear.weight"), std::string::npos) << why;
    EXPECT_NE(why.find("keep_gradients"), std::string::npos) << why;
  }
  EXPECT_EQ(t.layer.weight().ToVector<float>(), weight);
  t.layer.To(DType::kF32);  // no reader of gradients
  t.Step(x);                // clears them first
  EXPECT_TRUE(t.layer.weight().grad().defined());
  step(x);
}

TEST(FrozenGradientsTest, AFrozenStepMayLeaveItsGradients) {
  Twin frozen, ordinary;
  const Tensor x = Full({4, 3}, 1.0);
  StaticGraph step = Freeze(
      {.keep_gradients = true}, [&](const Tensor& a) { return frozen.Step(a); }, x);
  ordinary.Step(x);
  for (int i = 0; i < 2; ++i) {
    step(x * i);
    ordinary.Step(x * i);
    ExpectSameTwins(frozen, ordinary);
    frozen.StepWithoutClearing(x);
    ordinary.StepWithoutClearing(x);
    ExpectSameTwins(frozen, ordinary);
  }
}

// The captured run left an update out, or made one, depending on the gradients that it found.
TEST(FrozenGradientsTest, WhatARunDoesBecauseOfAGradientIsChecked) {
  Twin without, with;
  const auto update_first = [](Twin& t, const Tensor& x) {
    t.adam.Step();
    t.adam.ZeroGrad();
    return t.Micro(x);
  };
  const Tensor x = Full({4, 3}, 1.0);
  StaticGraph skips = Freeze([&](const Tensor& a) { return update_first(without, a); }, x);
  const Values before = without.layer.weight().ToVector<float>();
  const std::string found = testing::StatusOf([&] { skips(x); }).ToString();
  EXPECT_NE(found.find("found no gradient in parameter linear.weight"), std::string::npos) << found;
  EXPECT_EQ(without.layer.weight().ToVector<float>(), before);

  with.Micro(x);
  StaticGraph updates = Freeze([&](const Tensor& a) { return update_first(with, a); }, x);
  Twin ordinary;
  ordinary.Micro(x);
  update_first(ordinary, x);
  updates(x * 2);
  update_first(ordinary, x * 2);
  ExpectSameTwins(with, ordinary);
  with.adam.ZeroGrad();
  const std::string none = testing::StatusOf([&] { updates(x); }).ToString();
  EXPECT_NE(none.find("used the gradient that it found in parameter linear.weight"),
            std::string::npos)
      << none;
}

}  // namespace
}  // namespace firn
