// What depends on constants alone is computed once.

#include "firn/autograd/graph/passes/fold_constants.h"

#include <gtest/gtest.h>

#include "firn/tensor/from.h"
#include "firn/tensor/ops/collective/all_reduce.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::GraphBuilder;
using testing::OpsOf;
using testing::RunGraph;
using testing::RunPass;
using testing::Sizes;

TEST(FoldConstantsTest, ComputesChainsOfConstants) {
  const Tensor c = Randn({4}), d = Randn({4});
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId sum = b.Call("exp", {b.Call("add", {b.Constant(c), b.Constant(d)}, AddAttrs{})});
  Graph graph = b.Build({b.Call("mul", {x, sum})});
  const PassReport report = RunPass(FoldConstants, graph);
  EXPECT_EQ(OpsOf(graph), "mul");
  EXPECT_EQ(report.what, (std::vector<std::string>{"add", "exp"}));
  const Tensor in[] = {Randn({4})};
  EXPECT_TRUE(RunGraph(graph, in)[0].Equals(in[0] * Exp(c + d)));
}

TEST(FoldConstantsTest, ViewsOfConstantsAreConstants) {
  const Tensor c = Randn({2, 3});
  GraphBuilder b;
  const ValueId x = b.Input({3});
  const ValueId turned = b.Call("transpose", {b.Constant(c)}, TransposeAttrs{.dim0 = 0, .dim1 = 1});
  const ValueId row = b.Call("exp", {turned});
  Graph graph = b.Build({b.Call("sum", {row}, ReduceAttrs{{1}}), turned, x});
  RunPass(FoldConstants, graph);
  EXPECT_EQ(OpsOf(graph), "");
  EXPECT_TRUE(graph.value(turned).bound.Equals(c.T()));  // as files want it
  const Tensor in[] = {Randn({3})};
  const TensorList out = RunGraph(graph, in);
  EXPECT_TRUE(out[0].Equals(Sum(Exp(c.T()), 1)));
  EXPECT_TRUE(out[1].Equals(c.T()));
  EXPECT_TRUE(out[2].Equals(in[0]));
}

TEST(FoldConstantsTest, AViewIsReadWhereItLies) {
  const Tensor c = Randn({3, 4});
  GraphBuilder b;
  const ValueId row = b.Call("select", {b.Constant(c)}, SelectAttrs{.dim = 0, .index = 2});
  Graph graph = b.Build({b.Call("exp", {row})});
  RunPass(FoldConstants, graph);
  EXPECT_EQ(OpsOf(graph), "");
  EXPECT_TRUE(RunGraph(graph)[0].Equals(Exp(c[2])));
}

TEST(FoldConstantsTest, StatesAreNotConstants) {
  const Tensor state = Ones({4});
  GraphBuilder b;
  Graph graph = b.Build({b.Call("add", {b.State(state), b.Constant(Ones({4}))}, AddAttrs{})});
  EXPECT_EQ(RunPass(FoldConstants, graph).changes, 0);
  Tensor(state).Fill(5);
  EXPECT_TRUE(RunGraph(graph)[0].Equals(Full({4}, 6.0)));
}

TEST(FoldConstantsTest, WhatIsWrittenInPlaceIsNotConstant) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId sum = b.Call("full", {}, FullAttrs{Sizes({4})});
  b.Call("accumulate", {sum, x});
  Graph graph = b.Build({sum});
  EXPECT_EQ(RunPass(FoldConstants, graph).changes, 0);
  const Tensor in[] = {Ones({4})};
  EXPECT_TRUE(RunGraph(graph, in)[0].Equals(Ones({4})));
  EXPECT_TRUE(RunGraph(graph, in)[0].Equals(Ones({4})));
}

TEST(FoldConstantsTest, ResultsThatAreStatesAreWrittenInEachRun) {
  const Tensor place = Zeros({4});
  GraphBuilder b;
  const ValueId zeros = b.Call("full", {}, FullAttrs{Sizes({4}), 3});
  b.graph().buffer_of(zeros).kind = Buffer::Kind::kState;
  b.graph().value(zeros).bound = place;
  Graph graph = b.Build({});
  EXPECT_EQ(RunPass(FoldConstants, graph).changes, 0);
  RunGraph(graph);
  EXPECT_TRUE(place.Equals(Full({4}, 3.0)));
}

// Verify refuses graphs that write into constants, as every draw does into its generator. A pass
// that gets such a graph leaves the error for Verify to find, and changes nothing.
TEST(FoldConstantsTest, NeitherDrawsNorWritesWhileCompiling) {
  const Tensor place = Zeros({4});
  const RandomGenerator generator(7);
  GraphBuilder b;
  b.Call("accumulate", {b.Constant(place), b.Constant(Ones({4}))});
  b.Call("bernoulli", {b.Constant(generator.state()), b.Constant(Full({64}, 0.5))});
  const absl::StatusOr<PassReport> report = FoldConstants(b.graph());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->changes, 0);
  EXPECT_EQ(OpsOf(b.graph()), "accumulate bernoulli");
  EXPECT_FALSE(b.graph().Verify().ok());
  EXPECT_TRUE(place.Equals(Zeros({4})));
  EXPECT_EQ(generator.position().offset, 0u);
}

TEST(FoldConstantsTest, AnExpandedNumberStaysANumber) {
  GraphBuilder b;
  const ValueId wide =
      b.Call("expand", {b.Constant(Ones(Shape()))}, ShapeAttrs{Sizes({5000, 5000})});
  Graph graph = b.Build({b.Call("contiguous", {wide})});
  RunPass(FoldConstants, graph);
  EXPECT_EQ(OpsOf(graph), "contiguous");
  for (const Buffer& buffer : graph.buffers) {
    EXPECT_TRUE(buffer.kind != Buffer::Kind::kConstant || buffer.bytes < 1000);
  }
}

TEST(FoldConstantsTest, WhatIsNoLargerThanItsArgumentsIsComputed) {
  const Tensor large = Randn({200, 200});
  GraphBuilder b;
  Graph graph = b.Build({b.Call("exp", {b.Constant(large)})});
  EXPECT_EQ(RunPass(FoldConstants, graph).changes, 1);
  EXPECT_TRUE(RunGraph(graph)[0].Equals(Exp(large)));
}

TEST(FoldConstantsTest, AFailingOperationIsLeftToFailWhenItRuns) {
  GraphBuilder b;
  const ValueId weight = b.Constant(Randn({3, 2}));
  const ValueId beyond = b.Constant(FromValues<int64_t>({1, 3}));
  b.Call("embedding", {beyond, weight}, EmbeddingAttrs{});
  Graph graph = std::move(b.graph());
  EXPECT_EQ(RunPass(FoldConstants, graph).changes, 0);
  EXPECT_EQ(OpsOf(graph), "embedding");
}

TEST(FoldConstantsTest, CapturedConstantsAreFolded) {
  const auto run = [](absl::Span<const Tensor> in) {
    return TensorList{in[0] * (Full({4}, 2.0) + 1) + Reshape(Arange(4), {2, 2}).Flatten()};
  };
  const Tensor in[] = {Randn({4})};
  Graph graph = Capture(run, in).graph;
  RunPass(FoldConstants, graph);
  EXPECT_EQ(OpsOf(graph), "mul add");
  const Tensor other[] = {Randn({4})};
  EXPECT_TRUE(RunGraph(graph, other)[0].Equals(run(other)[0]));
}

// The result is not known here, and the other ranks may not be compiling now.
TEST(FoldConstantsTest, CollectivesAreCalledInEachRun) {
  GraphBuilder b;
  const ValueId sum = b.Call("all_reduce", {b.Constant(Ones({4}))}, AllReduceOptions());
  Graph graph = b.Build({b.Call("exp", {sum})});
  EXPECT_EQ(RunPass(FoldConstants, graph).changes, 0);
  EXPECT_EQ(OpsOf(graph), "all_reduce exp");
}

}  // namespace
}  // namespace firn
