// The sources and the targets of gradients in frozen runs: leaves that the run makes, tensors that
// hold several gradients, gradients from outside, other networks' gradients.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"
#include "tests/footguns/twin.h"

namespace firn {
namespace {

using testing::ExpectSameTwins;
using testing::Twin;
using Values = std::vector<float>;

// A gradient that the run is given from outside is not added to in place.
TEST(FrozenLeavesTest, ASharedStartIsNotAddedTo) {
  Twin t;
  const Tensor start = Zeros({2, 3}), x = Full({4, 3}, 1.0);
  StaticGraph graph = Freeze(
      [&](const Tensor& a) {
        Tensor(t.layer.weight()).SetGrad(start);
        return t.Micro(a);
      },
      x);
  const Values want = t.layer.weight().grad().ToVector<float>();
  for (int i = 0; i < 2; ++i) {
    graph(x);
    EXPECT_TRUE(start.Equals(Zeros({2, 3})));
    EXPECT_EQ(t.layer.weight().grad().ToVector<float>(), want);
  }
}

// A leaf that the run makes is another one in every run.
TEST(FrozenLeavesTest, ALeafThatTheRunMakesHasNoGradientToAddTo) {
  const Tensor w = Full({3}, 2.0);
  Tensor leaf, of_state;
  const auto run = [&](const Tensor& x) {
    leaf = x.Detach().SetRequiresGrad();
    of_state = w.Detach().SetRequiresGrad();
    const bool first = !leaf.grad().defined();
    const Tensor loss = Sum(Square(leaf) * of_state);
    loss.Backward({}, true);
    loss.Backward();
    return TensorList{loss.Detach(), leaf.grad(), of_state.grad() * (first ? 1 : 100)};
  };
  const Tensor x = FromValues({1.f, 2.f, 3.f});
  StaticGraph graph = Freeze(run, x);
  const Tensor captured = leaf, captured_of_state = of_state;
  for (int i = 0; i < 3; ++i) {
    const Tensor in = x + i;
    const TensorList got = graph.Call({&in, 1});
    const Tensor left = captured.grad().Clone(), left_of_state = captured_of_state.grad().Clone();
    const TensorList want = run(in);
    for (size_t k = 0; k < want.size(); ++k) EXPECT_TRUE(got[k].Equals(want[k])) << k;
    EXPECT_TRUE(left.Equals(want[1]));
    EXPECT_TRUE(left_of_state.Equals(want[2]));
  }
}

TEST(FrozenLeavesTest, AnInputMayBeALeafOfTheRun) {
  const auto run = [](const Tensor& x) {
    Tensor leaf = x;
    leaf.SetRequiresGrad();
    Sum(Square(leaf)).Backward();
    return leaf.grad();
  };
  StaticGraph graph = Freeze(run, Ones({2}));
  EXPECT_TRUE(graph(Full({2}, 3.0)).Equals(Full({2}, 6.0)));
  EXPECT_TRUE(graph(Full({2}, 4.0)).Equals(Full({2}, 8.0)));
  EXPECT_EQ(graph.captured().warnings.size(), 0u);
  // But an input that wants a gradient itself would get none.
  const Tensor w = Ones({2}).SetRequiresGrad();
  EXPECT_NE(testing::ErrorOf([&] { Freeze(run, w); }).find("wants a gradient"), std::string::npos);
}

TEST(FrozenLeavesTest, AnInputIsNoGradientToLeave) {
  Twin t;
  const std::string why = testing::ErrorOf([&] {
    Freeze(
        [&](const Tensor& g) {
          Tensor(t.layer.weight()).SetGrad(g);
          t.adam.Step();
          return g;
        },
        Ones({2, 3}));
  });
  EXPECT_NE(why.find("set a clone of it"), std::string::npos) << why;
}

// Two steps, each of which clears only its own gradients, as those of a generator and a
// discriminator do.
TEST(FrozenLeavesTest, StepsOfTwoNetworksMayAddToEachOthersGradients) {
  Twin a, b, want_a, want_b;
  const auto step = [](Twin& own, Twin& other, const Tensor& x) {
    own.adam.ZeroGrad();
    Sum(Square(own.layer(x)) * other.layer(x)).Backward();
    own.adam.Step();
    return x;
  };
  const Tensor x = Full({4, 3}, 0.5);
  StaticGraph step_a = Freeze([&](const Tensor& t) { return step(a, b, t); }, x);
  StaticGraph step_b = Freeze([&](const Tensor& t) { return step(b, a, t); }, x);
  for (int i = 0; i < 3; ++i) {
    if (i > 0) step_a(x), step_b(x);
    step(want_a, want_b, x), step(want_b, want_a, x);
    ExpectSameTwins(a, want_a, false);
    ExpectSameTwins(b, want_b, false);
  }
}

// Gradients that lie in one tensor, as flat buffers of gradients do.
TEST(FrozenLeavesTest, PartsOfOneTensorMayBeGradients) {
  for (const bool outside : {false, true}) {
    SCOPED_TRACE(outside);
    Twin t;
    const Tensor x = Full({4, 3}, 1.0);
    const Tensor kept = outside ? Zeros({8}) : Tensor();
    StaticGraph graph = Freeze(
        [&](const Tensor& a) {
          const Tensor flat = outside ? kept : Zeros({8});
          Tensor(t.layer.weight()).SetGrad(flat[{Range(0, 6)}].Reshape({2, 3}));
          Tensor(t.layer.bias()).SetGrad(flat[{Range(6, 8)}]);
          return t.Micro(a);
        },
        x);
    Twin ordinary;
    for (int i = 1; i < 4; ++i) {
      ordinary.adam.ZeroGrad();
      graph(x * i);
      ordinary.Micro(x * i);
      ExpectSameTwins(t, ordinary);
    }
    if (outside) {
      EXPECT_TRUE(kept.Equals(Zeros({8})));
    }
  }
}

TEST(FrozenLeavesTest, AGradientFromOutsideIsLeftAsItIs) {
  Twin t;
  const Tensor given = Full({2, 3}, 4.0), x = Full({4, 3}, 1.0);
  StaticGraph graph = Freeze(
      [&](const Tensor& a) {
        Tensor(t.layer.weight()).SetGrad(given);
        return a + 1;
      },
      x);
  t.adam.ZeroGrad();
  graph(x);
  EXPECT_TRUE(t.layer.weight().grad().Equals(given));
  EXPECT_TRUE(given.Equals(Full({2, 3}, 4.0)));
}

TEST(FrozenLeavesTest, AGradientOfAGradientAddsUp) {
  Twin frozen, ordinary;
  const auto run = [](Twin& t, const Tensor& x) {
    Tensor loss = Sum(Square(t.layer(x)));
    Backward({loss}, {.create_graph = true});
    return loss;
  };
  const Tensor x = Full({4, 3}, 1.0);
  run(frozen, x), run(ordinary, x);
  StaticGraph graph = Freeze([&](const Tensor& a) { return run(frozen, a); }, x);
  run(ordinary, x);
  for (int i = 0; i < 3; ++i) {
    graph(x);
    run(ordinary, x);
    ExpectSameTwins(frozen, ordinary);
  }
  // These gradients have a history that leads to their own leaves.
  frozen.adam.ZeroGrad();
  ordinary.adam.ZeroGrad();
}

}  // namespace
}  // namespace firn
