// Equal calls are computed once; calls that only look equal are not merged.

#include "firn/autograd/graph/passes/common_subexpressions.h"

#include <gtest/gtest.h>

#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/rng.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::GraphBuilder;
using testing::OpsOf;
using testing::RunGraph;
using testing::RunPass;
using testing::Sizes;

TEST(CommonSubexpressionsTest, EqualCallsAreOne) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId first = b.Call("exp", {x}), second = b.Call("exp", {x});
  const ValueId a = b.Call("neg", {first}), c = b.Call("neg", {second});
  Graph graph = b.Build({b.Call("add", {a, c}, AddAttrs{}), second});
  const PassReport report = RunPass(MergeCommonSubexpressions, graph);
  EXPECT_EQ(OpsOf(graph), "exp neg add");
  EXPECT_EQ(report.what, (std::vector<std::string>{"exp", "neg"}));
  const Tensor in[] = {Randn({4})};
  const TensorList out = RunGraph(graph, in);
  EXPECT_TRUE(out[0].Equals(Neg(Exp(in[0])) * 2));
  EXPECT_TRUE(out[1].Equals(Exp(in[0])));
}

TEST(CommonSubexpressionsTest, AttributesAndArgumentsCount) {
  GraphBuilder b;
  const ValueId x = b.Input({4, 4}), y = b.Input({4, 4});
  const ValueId rows = b.Call("sum", {x}, ReduceAttrs{{0}});
  const ValueId columns = b.Call("sum", {x}, ReduceAttrs{{1}});
  Graph graph = b.Build(
      {rows, columns, b.Call("sub", {x, y}, SubAttrs{}), b.Call("sub", {y, x}, SubAttrs{})});
  EXPECT_EQ(RunPass(MergeCommonSubexpressions, graph).changes, 0);
}

TEST(CommonSubexpressionsTest, AWriteInBetweenMakesADifference) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId state = b.State(Ones({4}));
  const ValueId before = b.Call("exp", {state}), before_too = b.Call("exp", {state});
  b.Call("accumulate", {state, x});
  const ValueId after = b.Call("exp", {state});
  Graph graph = b.Build({before, before_too, after});
  EXPECT_EQ(RunPass(MergeCommonSubexpressions, graph).changes, 1);
  EXPECT_EQ(OpsOf(graph), "exp accumulate exp");
  const Tensor in[] = {Ones({4})};
  const TensorList out = RunGraph(graph, in);
  EXPECT_TRUE(out[0].Equals(Exp(Ones({4}))));
  EXPECT_TRUE(out[1].Equals(Exp(Ones({4}))));
  EXPECT_TRUE(out[2].Equals(Exp(Full({4}, 2.0))));
}

TEST(CommonSubexpressionsTest, AResultThatIsAStateIsAWrite) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const Tensor place = Zeros({4});
  const ValueId state = b.State(place);
  const ValueId before = b.Call("exp", {state});
  b.Call("neg", {x});
  b.graph().instrs.back().out[0] = state;
  Graph graph = b.Build({before, b.Call("exp", {state})});
  EXPECT_EQ(RunPass(MergeCommonSubexpressions, graph).changes, 0);
}

TEST(CommonSubexpressionsTest, WhatIsWrittenInPlaceStaysApart) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId first = b.Call("exp", {x}), second = b.Call("exp", {x});
  b.Call("accumulate", {second, x});
  Graph graph = b.Build({first, second});
  EXPECT_EQ(RunPass(MergeCommonSubexpressions, graph).changes, 0);
}

TEST(CommonSubexpressionsTest, RandomNumbersStayApart) {
  RandomGenerator generator(3);
  GraphBuilder b;
  const ValueId state = b.State(generator.state());
  const RandnAttrs attrs{Sizes({8}), 0, 1, kDefaultFloat};
  const ValueId first = b.Call("randn", {state}, attrs);
  Graph graph = b.Build({first, b.Call("randn", {state}, attrs)});
  EXPECT_EQ(RunPass(MergeCommonSubexpressions, graph).changes, 0);
}

TEST(CommonSubexpressionsTest, ViewsOfMergedResultsMoveAlong) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId first = b.Call("exp", {x}), second = b.Call("exp", {x});
  const ValueId view = b.Call("reshape", {second}, ShapeAttrs{Sizes({2, 2})});
  const ValueId row = b.Call("slice", {view}, SliceAttrs{.dim = 0, .start = 1, .end = 2});
  Graph graph = b.Build({first, b.Call("neg", {row})});
  RunPass(MergeCommonSubexpressions, graph);
  EXPECT_EQ(CountOf(graph, "exp"), 1);
  EXPECT_EQ(graph.value(row).buffer, graph.value(first).buffer);
  const Tensor in[] = {Randn({4})};
  const TensorList out = RunGraph(graph, in);
  EXPECT_TRUE(out[1].Equals(Neg(Reshape(Exp(in[0]), {2, 2})[Range(1, 2)])));
}

TEST(CommonSubexpressionsTest, EqualViewsAreOneWhateverIsWritten) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId state = b.State(Ones({4}));
  const ValueId before = b.Call("reshape", {state}, ShapeAttrs{Sizes({2, 2})});
  b.Call("accumulate", {state, x});
  const ValueId after = b.Call("reshape", {state}, ShapeAttrs{Sizes({2, 2})});
  Graph graph = b.Build({b.Call("sub", {before, after}, SubAttrs{})});
  EXPECT_EQ(RunPass(MergeCommonSubexpressions, graph).changes, 1);
  const Tensor in[] = {Ones({4})};
  EXPECT_TRUE(RunGraph(graph, in)[0].Equals(Zeros({2, 2})));
}

TEST(CommonSubexpressionsTest, SmallConstantsAreComparedByWhatTheyHold) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const auto times = [&](double number) {
    return b.Call("mul", {x, b.Constant(Full(Shape(), number))});
  };
  Graph graph = b.Build({times(2), times(2), times(3)});
  EXPECT_EQ(RunPass(MergeCommonSubexpressions, graph).changes, 1);
  const Tensor in[] = {Randn({4})};
  const TensorList out = RunGraph(graph, in);
  EXPECT_TRUE(out[1].Equals(in[0] * 2));
  EXPECT_TRUE(out[2].Equals(in[0] * 3));
}

TEST(CommonSubexpressionsTest, WhatBackwardRecomputesIsNotKeptFromForward) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId y = b.Call("neg", {b.Call("exp", {x})});
  b.phase = Phase::kBackward;
  const ValueId again = b.Call("exp", {x});
  Graph graph = b.Build({b.Call("mul", {y, again})});
  EXPECT_EQ(RunPass(MergeCommonSubexpressions, graph).changes, 0);
}

TEST(CommonSubexpressionsTest, WhatBackwardRecomputesIsTakenFromForwardIfItIsStillThere) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId y = b.Call("exp", {x});
  b.phase = Phase::kBackward;
  const ValueId again = b.Call("exp", {x});
  Graph graph = b.Build({b.Call("mul", {y, again})});
  EXPECT_EQ(RunPass(MergeCommonSubexpressions, graph).changes, 1);
}

TEST(CommonSubexpressionsTest, CapturedRunsComputeTheSameWithLess) {
  const auto run = [](absl::Span<const Tensor> in) {
    return TensorList{Exp(in[0] * 2) + Exp(in[0] * 2), Tanh(in[0]) * Tanh(in[0])};
  };
  const Tensor in[] = {Randn({8})};
  Graph graph = Capture(run, in).graph;
  RunPass(MergeCommonSubexpressions, graph);
  EXPECT_EQ(OpsOf(graph), "mul exp add tanh mul");
  const Tensor other[] = {Randn({8})};
  const TensorList out = RunGraph(graph, other), want = run(other);
  EXPECT_TRUE(out[0].Equals(want[0]));
  EXPECT_TRUE(out[1].Equals(want[1]));
}

// Each is a call that the other ranks make as well.
TEST(CommonSubexpressionsTest, CollectivesStayApart) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId first = b.Call("all_reduce", {x}, AllReduceOptions());
  Graph graph = b.Build({first, b.Call("all_reduce", {x}, AllReduceOptions())});
  EXPECT_EQ(RunPass(MergeCommonSubexpressions, graph).changes, 0);
  EXPECT_EQ(OpsOf(graph), "all_reduce all_reduce");
}

}  // namespace
}  // namespace firn
