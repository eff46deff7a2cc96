// Calls whose results nothing needs are removed; calls with effects stay.

#include "firn/autograd/graph/passes/dead_code.h"

#include <gtest/gtest.h>

#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/ops/collective/started.h"
#include "firn/tensor/rng.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::GraphBuilder;
using testing::OpsOf;
using testing::RunGraph;
using testing::RunPass;
using testing::Sizes;

TEST(DeadCodeTest, DropsWhatNobodyReadsWithItsValuesAndBuffers) {
  GraphBuilder b;
  const ValueId unused = b.Input({4});
  const ValueId x = b.Input({4});
  const ValueId waste = b.Call("relu", {b.Call("neg", {x})});
  const ValueId constant = b.Constant(Ones({4}));
  b.Call("add", {waste, constant}, AddAttrs{});
  Graph graph = b.Build({b.Call("exp", {x})});
  const PassReport report = RunPass(EliminateDeadCode, graph);
  EXPECT_EQ(OpsOf(graph), "exp");
  EXPECT_EQ(report.pass, "dead_code");
  EXPECT_EQ(report.what, (std::vector<std::string>{"neg", "relu", "add"}));
  EXPECT_EQ(graph.values.size(), 3u);
  EXPECT_EQ(graph.buffers.size(), 3u);
  EXPECT_EQ(graph.inputs, (std::vector<ValueId>{unused, x}));
  const Tensor in[] = {Randn({4}), Randn({4})};
  EXPECT_TRUE(RunGraph(graph, in)[0].Equals(Exp(in[1])));
}

TEST(DeadCodeTest, NamesTheModule) {
  const std::string path = "net.act";
  GraphBuilder b;
  const ValueId x = b.Input({4});
  b.Call("relu", {x});
  b.graph().instrs.back().path = &path;
  b.graph().instrs.back().phase = Phase::kBackward;
  Graph graph = b.Build({x});
  EXPECT_EQ(RunPass(EliminateDeadCode, graph).what,
            std::vector<std::string>{"relu at net.act (backward)"});
}

TEST(DeadCodeTest, WritesIntoStatesStay) {
  GraphBuilder b;
  const Tensor sum = Zeros({4});
  const ValueId x = b.Input({4});
  b.Call("accumulate", {b.State(sum), b.Call("neg", {x})});
  Graph graph = b.Build({});
  EXPECT_EQ(RunPass(EliminateDeadCode, graph).changes, 0);
  EXPECT_EQ(OpsOf(graph), "neg accumulate");
  const Tensor in[] = {Ones({4})};
  RunGraph(graph, in);
  EXPECT_TRUE(sum.Equals(Full({4}, -1.0)));
}

TEST(DeadCodeTest, ResultsThatAreStatesStay) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId held = b.Call("exp", {x});
  b.graph().buffer_of(held).kind = Buffer::Kind::kState;
  const Tensor place = Zeros({4});
  b.graph().value(held).bound = place;
  Graph graph = b.Build({});
  RunPass(EliminateDeadCode, graph);
  EXPECT_EQ(OpsOf(graph), "exp");
  const Tensor in[] = {Randn({4})};
  RunGraph(graph, in);
  EXPECT_TRUE(place.Equals(Exp(in[0])));
}

TEST(DeadCodeTest, RandomNumbersThatNobodyReadsStillMoveTheStream) {
  GraphBuilder b;
  RandomGenerator generator(5);
  b.Call("randn", {b.State(generator.state())}, RandnAttrs{Sizes({8}), 0, 1, kDefaultFloat});
  Graph graph = b.Build({});
  RunPass(EliminateDeadCode, graph);
  EXPECT_EQ(OpsOf(graph), "randn");
}

TEST(DeadCodeTest, AWriteIntoATemporaryStaysIfThatIsReadLater) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId sum = b.Call("exp", {x});
  const ValueId view = b.Call("reshape", {sum}, ShapeAttrs{Sizes({2, 2})});
  const ValueId addend = b.Call("reshape", {x}, ShapeAttrs{Sizes({2, 2})});
  b.Call("accumulate", {view, addend});  // through a view
  const ValueId result = b.Call("neg", {sum});
  b.Call("accumulate", {view, addend});  // never read
  Graph graph = b.Build({result});
  EXPECT_EQ(RunPass(EliminateDeadCode, graph).what, std::vector<std::string>{"accumulate"});
  EXPECT_EQ(OpsOf(graph), "exp reshape reshape accumulate neg");
  const Tensor in[] = {Randn({4})};
  EXPECT_TRUE(RunGraph(graph, in)[0].Equals(Neg(Exp(in[0]) + in[0])));
}

TEST(DeadCodeTest, ViewsStayOnlyIfTheyAreNamed) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId y = b.Call("exp", {x});
  b.Call("reshape", {y}, ShapeAttrs{Sizes({4, 1})});
  const ValueId view = b.Call("reshape", {y}, ShapeAttrs{Sizes({2, 2})});
  Graph graph = b.Build({view});
  RunPass(EliminateDeadCode, graph);
  EXPECT_EQ(OpsOf(graph), "exp reshape");
  const Tensor in[] = {Randn({4})};
  EXPECT_TRUE(RunGraph(graph, in)[0].Equals(Reshape(Exp(in[0]), {2, 2})));
}

TEST(DeadCodeTest, GradientsThatStayAreNeeded) {
  const Tensor leaf = Ones({4});
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId grad = b.Call("exp", {x});
  b.graph().gradients.push_back({leaf, grad});
  b.graph().value(grad).bound = Zeros({4});
  b.graph().buffer_of(grad).kind = Buffer::Kind::kState;
  b.Call("neg", {x});
  Graph graph = b.Build({});
  RunPass(EliminateDeadCode, graph);
  EXPECT_EQ(OpsOf(graph), "exp");
  EXPECT_EQ(graph.gradients[0].value, graph.instrs[0].out[0]);
}

TEST(DeadCodeTest, AStateKeepsItsTensorWhenOnlyAViewIsUsed) {
  GraphBuilder b;
  b.Input({4});
  const ValueId state = b.State(Ones({4}));
  const ValueId view = b.Call("reshape", {state}, ShapeAttrs{Sizes({2, 2})});
  b.State(Zeros({100}));  // nobody's
  Graph graph = b.Build({b.Call("exp", {view})});
  RunPass(EliminateDeadCode, graph);
  EXPECT_EQ(graph.buffers.size(), 3u);
  const Tensor in[] = {Zeros({4})};
  EXPECT_TRUE(RunGraph(graph, in)[0].Equals(Exp(Ones({2, 2}))));
}

TEST(DeadCodeTest, LongChainsNeedNoStack) {
  GraphBuilder b;
  ValueId x = b.Input({1});
  for (int i = 0; i < 100000; ++i) x = b.Call("neg", {x});
  Graph graph = b.Build({});
  EXPECT_EQ(RunPass(EliminateDeadCode, graph).changes, 100000);
}

TEST(DeadCodeTest, CapturedRunsLoseWhatTheyThrowAway) {
  const auto run = [](absl::Span<const Tensor> in) {
    const Tensor unused = Exp(in[0]) * 3;
    return TensorList{Relu(in[0])};
  };
  const Tensor in[] = {Randn({8})};
  Graph graph = Capture(run, in).graph;
  RunPass(EliminateDeadCode, graph);
  EXPECT_EQ(OpsOf(graph), "relu");
  EXPECT_TRUE(RunGraph(graph, in)[0].Equals(Relu(in[0])));
}

// The other ranks wait for this call even if nothing reads its result here. A part must be taken
// out of the graph on all ranks.
TEST(DeadCodeTest, CollectivesStay) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  b.Call("all_reduce", {b.Call("neg", {x})}, AllReduceOptions());
  b.Call("exp", {x});
  const ValueId sum = b.Call("relu", {x});
  b.Call("start_collective", {sum}, StartCollectiveAttrs());
  b.Call("wait_collective", {sum}, WaitCollectiveAttrs());
  Graph graph = b.Build({x});
  EXPECT_EQ(RunPass(EliminateDeadCode, graph).what, std::vector<std::string>{"exp"});
  EXPECT_EQ(OpsOf(graph), "neg all_reduce relu start_collective wait_collective");
  KeepOnlyOutputs(graph);
  EXPECT_EQ(OpsOf(graph), "");
}

}  // namespace
}  // namespace firn
