// Activations move into the batch norms before them, and no bit changes.

#include "autograd/graph/passes/fuse_activation.h"

#include <gtest/gtest.h>

#include "nn/batch_norm.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::RunGraph;
using testing::RunPass;

// x -> batch norm -> fn, the sum of the result and the gradient of x.
template <class F>
Graph Captured(nn::BatchNorm2d& bn, const Tensor& x, F fn) {
  const auto step = [&](absl::Span<const Tensor> in) {
    Tensor leaf = in[0].Detach().SetRequiresGrad();
    const Tensor y = fn(bn(leaf));
    Sum(Square(y)).Backward();
    return TensorList{y.Detach(), leaf.grad()};
  };
  return Capture(step, {&x, 1}).graph;
}

template <class F>
void ExpectFused(F fn, DType dtype) {
  nn::BatchNorm2d bn({.channels = 16});
  bn.To(dtype);
  const Tensor x = Randn({4, 16, 5, 5}).To(dtype);
  Graph graph = Captured(bn, x, fn);
  const TensorList want = RunGraph(graph, {&x, 1});
  const PassReport report = RunPass(FuseActivation, graph);
  ASSERT_EQ(report.changes, 1);
  EXPECT_EQ(CountOf(graph, "batch_norm_train"), 0);
  EXPECT_EQ(CountOf(graph, "batch_norm_act_train"), 1);
  const TensorList got = RunGraph(graph, {&x, 1});
  EXPECT_TRUE(got[0].Equals(want[0]));
  EXPECT_TRUE(got[1].Equals(want[1]));
}

TEST(FuseActivationTest, ReluAndTanhMoveIntoTheBatchNorm) {
  for (DType dtype : {DType::kF32, DType::kF64}) {
    ExpectFused([](const Tensor& t) { return Relu(t); }, dtype);
    ExpectFused([](const Tensor& t) { return Tanh(t); }, dtype);
  }
}

TEST(FuseActivationTest, WhatIsReadElsewhereStays) {
  nn::BatchNorm2d bn({.channels = 16});
  const Tensor x = Randn({4, 16, 5, 5});
  Graph graph = Captured(bn, x, [](const Tensor& t) { return Tanh(t) * t; });
  EXPECT_EQ(RunPass(FuseActivation, graph).changes, 0);
}

TEST(FuseActivationTest, HalfTypesAndOtherActivationsStay) {
  nn::BatchNorm2d bn({.channels = 16});
  const Tensor x = Randn({4, 16, 5, 5});
  Graph graph = Captured(bn, x, [](const Tensor& t) { return Sigmoid(t); });
  EXPECT_EQ(RunPass(FuseActivation, graph).changes, 0);
  bn.To(DType::kF16);
  const Tensor half = x.To(DType::kF16);
  graph = Captured(bn, half, [](const Tensor& t) { return Tanh(t); });
  EXPECT_EQ(RunPass(FuseActivation, graph).changes, 0);
}

}  // namespace
}  // namespace firn
