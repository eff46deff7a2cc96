// A graph captured in training mode, made to evaluate.

#include "firn/autograd/graph/evaluation.h"

#include <gtest/gtest.h>

#include "firn/autograd/graph/edit.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/tensor/dispatch.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::RunGraph;

struct Net : nn::Module {
  nn::Conv2d& conv = Add<nn::Conv2d>("conv", {.in = 3, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn1 = Add<nn::BatchNorm2d>("bn1", {.channels = 16});
  nn::BatchNorm2d& bn2 =
      Add<nn::BatchNorm2d>("bn2", {.channels = 16, .activation = FusedActivation::kTanh});
  nn::Dropout& drop = Add<nn::Dropout>("drop", {.p = 0.5});
  Tensor Forward(const Tensor& x) { return drop(bn2(bn1(conv(x)))); }
};

Graph Captured(Net& net, const Tensor& x) {
  const auto fn = [&](absl::Span<const Tensor> in) { return TensorList{net.Forward(in[0])}; };
  return Capture(fn, {&x, 1}).graph;
}

TEST(EvaluationTest, ComputesWhatTheModelDoesInEvaluationMode) {
  Net net;
  const Tensor x = Randn({4, 3, 8, 8});
  const Graph training = Captured(net, x);
  ASSERT_EQ(CountOf(training, "dropout"), 1);
  const absl::StatusOr<Graph> graph = ToEvaluation(training);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(CountOf(*graph, "dropout"), 0);
  EXPECT_EQ(CountOf(*graph, "accumulate"), 0);  // of the number of batches
  net.Eval();
  const NoGradScope no_grad;
  const std::vector<float> before = net.bn1.state_dict().Find("running_mean")->ToVector<float>();
  EXPECT_TRUE(RunGraph(*graph, {&x, 1})[0].Equals(net.Forward(x)));
  EXPECT_EQ(net.bn1.state_dict().Find("running_mean")->ToVector<float>(), before);
}

TEST(EvaluationTest, WhatFollowsADropoutIsReplacedAsWell) {
  nn::BatchNorm1d bn({.channels = 5});
  const Tensor x = Randn({8, 5});
  const auto fn = [&](absl::Span<const Tensor> in) {
    return TensorList{bn(Dropout(Dropout(in[0], 0.5), 0.5))};
  };
  const absl::StatusOr<Graph> graph = ToEvaluation(Capture(fn, {&x, 1}).graph);
  ASSERT_TRUE(graph.ok()) << graph.status();
  bn.Eval();
  const NoGradScope no_grad;
  EXPECT_TRUE(RunGraph(*graph, {&x, 1})[0].Equals(bn(x))) << graph->DebugString();
}

// Without the dropout, the reshape sees a transposed tensor.
TEST(EvaluationTest, ViewsOfWhatIsRemovedMayNeedACopy) {
  const Tensor x = Randn({4, 6});
  const auto fn = [](absl::Span<const Tensor> in) {
    return TensorList{Reshape(Dropout(in[0].T(), 0.5), {-1})};
  };
  const absl::StatusOr<Graph> graph = ToEvaluation(Capture(fn, {&x, 1}).graph);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_TRUE(RunGraph(*graph, {&x, 1})[0].Equals(Reshape(x.T(), {-1})));
}

TEST(EvaluationTest, ABatchNormWithoutRunningStatisticsIsRefused) {
  nn::BatchNorm2d bn({.channels = 3, .track_running_stats = false});
  const Tensor x = Randn({4, 3, 8, 8});
  const auto fn = [&](absl::Span<const Tensor> in) { return TensorList{bn(in[0])}; };
  const absl::Status status = ToEvaluation(Capture(fn, {&x, 1}).graph).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_NE(status.message().find("has no running statistics"), absl::string_view::npos);
}

TEST(EvaluationTest, AResultOfTheBackwardPassIsRefused) {
  Tensor w = Randn({3}).SetRequiresGrad();
  const Tensor x = Randn({3});
  const auto fn = [&](absl::Span<const Tensor> in) {
    w.ZeroGrad();
    const Tensor loss = Sum(Exp(w * in[0]));
    loss.Backward();
    return TensorList{loss, w.grad()};
  };
  const Graph graph = Capture(fn, {&x, 1}).graph;
  EXPECT_EQ(ToEvaluation(graph).status().code(), absl::StatusCode::kFailedPrecondition);
  const absl::StatusOr<Graph> forward = ExtractGraph(graph, graph.inputs, {graph.outputs[0]});
  ASSERT_TRUE(forward.ok()) << forward.status();
  const absl::StatusOr<Graph> evaluated = ToEvaluation(*forward);
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  EXPECT_TRUE(RunGraph(*evaluated, {&x, 1})[0].Equals(Sum(Exp(w * x)).Detach()));
}

}  // namespace
}  // namespace firn
