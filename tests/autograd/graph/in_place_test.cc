// Results take the place of arguments that nobody reads again, and of no others.

#include "firn/autograd/graph/in_place.h"

#include <gtest/gtest.h>

#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/lower.h"
#include "firn/autograd/graph/plan.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/inner.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

// How many results of `fn` move, on one input of four elements.
int64_t Moved(Tensor (*fn)(const Tensor&)) {
  const Tensor in[] = {Ones({4})};
  const Captured captured =
      Capture([fn](absl::Span<const Tensor> x) { return TensorList{fn(x[0])}; }, in);
  Graph lowered = *Lower(captured.graph);
  const int64_t moved = MarkInPlace(lowered)->changes;
  EXPECT_TRUE(lowered.Verify().ok()) << lowered.Verify();
  return moved;
}

TEST(InPlaceTest, AChainNeedsOneBuffer) {
  const auto fn = [](const Tensor& x) { return Tanh(Exp(Exp(x)) * 2) + 1; };
  EXPECT_EQ(Moved(fn), 4);  // the first result has nowhere to go: inputs are the caller's
  StaticGraph graph = Freeze(fn, Ones({4}));
  EXPECT_EQ(graph.memory().arena_bytes, kArenaAlignment);
}

TEST(InPlaceTest, WhatIsReadAgainStays) {
  const auto fn = [](const Tensor& x) {
    const Tensor y = Exp(x);
    const Tensor z = Exp(y);  // y is read once more
    return y + z;             // over one of them
  };
  EXPECT_EQ(Moved(fn), 1);
  StaticGraph graph = Freeze(fn, Ones({4}));
  const Tensor x = Randn({4});
  EXPECT_TRUE(graph(x).Equals(fn(x)));
}

TEST(InPlaceTest, AnArgumentSeenInAnotherOrderStays) {
  const auto fn = [](const Tensor& x) {
    const Tensor y = Exp(x).Reshape({2, 2});
    return y + y.T();
  };
  EXPECT_EQ(Moved(fn), 0);
}

TEST(InPlaceTest, StatesAndResultsOfTheGraphStay) {
  const Tensor state = Ones({4});
  StaticGraph graph = Freeze(
      [&state](const Tensor& x) {
        const Tensor y = x + state;
        return TensorList{y, Exp(y), Exp(state)};
      },
      Ones({4}));
  const Tensor x = Randn({4});
  const Tensor in[] = {x};
  const TensorList out = graph.Call(in);
  EXPECT_TRUE(out[0].Equals(x + 1));
  EXPECT_TRUE(out[1].Equals(Exp(x + 1)));
  EXPECT_TRUE(state.Equals(Ones({4})));
}

}  // namespace
}  // namespace firn
