// Activations move into the batch norms before them, and no bit changes.

#include "firn/autograd/graph/passes/fuse_activation.h"

#include <gtest/gtest.h>

#include "firn/nn/batch_norm.h"
#include "firn/tensor/problems/conv_problem.h"
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
void ExpectFused(F fn, DType dtype, DType parameters) {
  nn::BatchNorm2d bn({.channels = 16});
  bn.To(parameters);
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
    ExpectFused([](const Tensor& t) { return Relu(t); }, dtype, dtype);
    ExpectFused([](const Tensor& t) { return Tanh(t); }, dtype, dtype);
  }
}

TEST(FuseActivationTest, WhatIsReadElsewhereStays) {
  nn::BatchNorm2d bn({.channels = 16});
  const Tensor x = Randn({4, 16, 5, 5});
  Graph graph = Captured(bn, x, [](const Tensor& t) { return Tanh(t) * t; });
  EXPECT_EQ(RunPass(FuseActivation, graph).changes, 0);
}

TEST(FuseActivationTest, OfHalfTypesReluMovesIntoTheBatchNorm) {
  for (DType dtype : {DType::kF16, DType::kBF16}) {
    for (DType parameters : {dtype, DType::kF32}) {
      ExpectFused([](const Tensor& t) { return Relu(t); }, dtype, parameters);
    }
  }
}

TEST(FuseActivationTest, TanhOfHalfTypesAndOtherActivationsStay) {
  nn::BatchNorm2d bn({.channels = 16});
  const Tensor x = Randn({4, 16, 5, 5});
  Graph graph = Captured(bn, x, [](const Tensor& t) { return Sigmoid(t); });
  EXPECT_EQ(RunPass(FuseActivation, graph).changes, 0);
  bn.To(DType::kF16);
  const Tensor half = x.To(DType::kF16);
  graph = Captured(bn, half, [](const Tensor& t) { return Tanh(t); });
  EXPECT_EQ(RunPass(FuseActivation, graph).changes, 0);
}

// x -> convolution -> activation, as if captured on `device`; the convolution's result is one of
// the graph's if it `leaves`.
Graph ConvGraph(std::string_view activation, DType dtype, Device device, bool leaves = false) {
  testing::GraphBuilder b;
  const ValueId x = b.Input({2, 3, 5, 5}, dtype);
  const ValueId weight = b.State(Randn({4, 3, 3, 3}).To(dtype));
  const ValueId bias = b.State(Randn({4}).To(dtype));
  const ValueId y = b.Call("conv2d", {x, weight, bias}, ConvAttrs{.stride = 2, .padding = 1});
  const ValueId z = b.Call(activation, {y});
  Graph graph = b.Build(leaves ? std::vector{y, z} : std::vector{z});
  for (Value& v : graph.values) v.spec.device = device;
  return graph;
}

int64_t ChangesIn(Graph graph) {
  absl::StatusOr<PassReport> report = FuseActivation(graph);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? report->changes : -1;
}

TEST(FuseActivationTest, OnADeviceActivationsMoveIntoConvolutions) {
  for (const FusedActivation want : {FusedActivation::kRelu, FusedActivation::kTanh}) {
    const std::string_view name = want == FusedActivation::kRelu ? "relu" : "tanh";
    Graph graph = ConvGraph(name, DType::kF32, Device::Cuda(0));
    const Graph before = graph;
    absl::StatusOr<PassReport> report = FuseActivation(graph);
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_EQ(testing::OpsOf(graph), "conv2d_act");
    EXPECT_EQ(graph.instrs[0].in, before.instrs[0].in);
    EXPECT_EQ(graph.instrs[0].out, before.instrs[1].out);
    const auto& attrs = graph.instrs[0].attrs.ref().get<ConvActAttrs>();
    EXPECT_EQ(attrs.activation, want);
    EXPECT_EQ(attrs.conv.stride, Sizes(2));
    EXPECT_EQ(attrs.conv.padding, Sizes(1));
  }
}

TEST(FuseActivationTest, OnTheCpuConvolutionsStayAsTheyAre) {
  EXPECT_EQ(ChangesIn(ConvGraph("relu", DType::kF32, Device::Cpu())), 0);
}

TEST(FuseActivationTest, OfHalfTypesOnlyReluIsRoundedAlike) {
  for (DType half : {DType::kF16, DType::kBF16}) {
    EXPECT_EQ(ChangesIn(ConvGraph("relu", half, Device::Cuda(0))), 1);
    EXPECT_EQ(ChangesIn(ConvGraph("tanh", half, Device::Cuda(0))), 0);
  }
  EXPECT_EQ(ChangesIn(ConvGraph("tanh", DType::kF64, Device::Cuda(0))), 1);
}

TEST(FuseActivationTest, AConvolutionThatIsReadElsewhereStays) {
  EXPECT_EQ(ChangesIn(ConvGraph("relu", DType::kF32, Device::Cuda(0), true)), 0);
  EXPECT_EQ(ChangesIn(ConvGraph("sigmoid", DType::kF32, Device::Cuda(0))), 0);
}

}  // namespace
}  // namespace firn
