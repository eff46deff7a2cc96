// Batch norms with an activation become two operations, forward and backward, and no number
// changes.

#include "firn/autograd/graph/unfuse.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/autograd/graph/edit.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/batch_norm.h"
#include "firn/tensor/dispatch.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::Difference;
using testing::RunGraph;

// The result, and the gradients of x and of the parameters.
Graph Captured(nn::BatchNorm2d& bn, const Tensor& x) {
  const auto step = [&](absl::Span<const Tensor> in) {
    Tensor leaf = in[0].Detach().SetRequiresGrad();
    for (Tensor p : bn.parameters()) p.ZeroGrad();
    const Tensor y = bn(leaf);
    Sum(Square(y)).Backward();
    return TensorList{y.Detach(), leaf.grad(), bn.parameters()[0].grad()};
  };
  return Capture(step, {&x, 1}).graph;
}

void Check(FusedActivation activation, const char* name, DType dtype) {
  nn::BatchNorm2d bn({.channels = 16, .activation = activation});
  bn.To(dtype);
  const Tensor x = Randn({4, 16, 5, 5}).To(dtype);
  Graph graph = Captured(bn, x);
  Tensor mean = bn.named_buffers()[0].tensor;
  const Tensor before = Clone(mean);
  const TensorList want = RunGraph(graph, {&x, 1});
  const Tensor moved = Clone(mean);
  EXPECT_EQ(UnfuseBatchNorm(graph), 2);
  EXPECT_EQ(CountOf(graph, "batch_norm_act_train"), 0) << graph.DebugString();
  EXPECT_EQ(CountOf(graph, "batch_norm_train"), 1);
  EXPECT_EQ(CountOf(graph, name), 1);
  for (const Instr& instr : graph.instrs) {
    if (instr.op->name != "batch_norm_grad") continue;
    EXPECT_EQ(instr.in[2], kNoValue);
  }
  mean.CopyFrom(before);
  const TensorList got = RunGraph(graph, {&x, 1});
  EXPECT_TRUE(got[0].Equals(want[0]));
  // dz is rounded once more than in the operation that has it in registers.
  for (size_t i = 1; i < 3; ++i) EXPECT_LE(Difference(got[i], want[i]), 1e-6) << i;
  EXPECT_TRUE(mean.Equals(moved));
  EXPECT_EQ(UnfuseBatchNorm(graph), 0);
}

TEST(UnfuseTest, ForwardAndBackwardOfBothActivations) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    Check(FusedActivation::kRelu, "relu", dtype);
    Check(FusedActivation::kTanh, "tanh", dtype);
  }
}

TEST(UnfuseTest, AnActivationCanBeReplacedThen) {
  nn::BatchNorm2d bn({.channels = 4, .activation = FusedActivation::kRelu});
  const Tensor x = Randn({2, 4, 3, 3});
  const NoGradScope no_grad;
  Graph graph =
      Capture([&](absl::Span<const Tensor> in) { return TensorList{bn(in[0])}; }, {&x, 1}).graph;
  ASSERT_EQ(UnfuseBatchNorm(graph), 1);
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    if (graph.instrs[at].op->name != "relu") continue;
    const absl::Status replaced = ReplaceOperation(
        graph, at, [](absl::Span<const Tensor> in) { return TensorList{Sigmoid(in[0])}; });
    ASSERT_TRUE(replaced.ok()) << replaced;
  }
  nn::BatchNorm2d plain({.channels = 4});
  EXPECT_LE(Difference(RunGraph(graph, {&x, 1})[0], Sigmoid(plain(x))), 1e-6);
  // Compiling may fuse them again, and the results stay the same.
  absl::StatusOr<StaticGraph> run = StaticGraph::Compile(graph);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_LE(Difference((*run)(x), Sigmoid(plain(x))), 1e-6);
}

}  // namespace
}  // namespace firn
