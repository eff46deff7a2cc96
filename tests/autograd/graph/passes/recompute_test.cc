// Results that only wait for the backward pass are computed again in it, and no bit changes.

#include "firn/autograd/graph/passes/recompute.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/nn/module.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/rng.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::RunGraph;
using testing::RunPass;

struct Net : nn::Module {
  nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.in = 3, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn1 =
      Add<nn::BatchNorm2d>("bn1", {.channels = 16, .activation = FusedActivation::kTanh});
  nn::Conv2d& conv2 = Add<nn::Conv2d>("conv2", {.in = 16, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn2 = Add<nn::BatchNorm2d>("bn2", {.channels = 16});
  nn::Conv2d& conv3 = Add<nn::Conv2d>("conv3", {.in = 16, .out = 4, .kernel = 3});
  Tensor Forward(const Tensor& x) { return conv3(Relu(bn2(conv2(bn1(conv1(x)))))); }
};

struct Training {
  Net net;
  std::unique_ptr<optim::Sgd> sgd;

  explicit Training(DType dtype) {
    ManualSeed(5);
    net.To(dtype);
    for (Tensor p : net.parameters()) {
      const NoGradScope no_grad;
      p.CopyFrom(RandnLike(p) * 0.3);
    }
    sgd = std::make_unique<optim::Sgd>(net.parameters(), optim::SgdOptions{.lr = 0.1});
  }
  Tensor Step(const Tensor& x) {
    sgd->ZeroGrad();
    const Tensor loss = Mean(Square(net.Forward(x)));
    loss.Backward();
    sgd->Step();
    return loss;
  }
  Captured CaptureStep(const Tensor& x) {
    return Capture([this](absl::Span<const Tensor> in) { return TensorList{Step(in[0])}; },
                   {&x, 1});
  }
};

TEST(RecomputeTest, TrainingStaysTheSameToTheBit) {
  for (DType dtype : {DType::kF32, DType::kF64}) {
    const Tensor x = Randn({8, 3, 16, 16}).To(dtype);
    Training plain(dtype), frozen(dtype);
    plain.Step(x);
    Graph graph = frozen.CaptureStep(x).graph;
    const PassReport report = RunPass(Recompute, graph);
    EXPECT_GE(report.changes, 1);
    EXPECT_EQ(CountOf(graph, "batch_norm_act_train"), 2);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(RunGraph(graph, {&x, 1})[0].Item<double>(), plain.Step(x).Item<double>());
    }
    const StateDict got = frozen.net.state_dict(), want = plain.net.state_dict();
    for (const auto& [name, value] : want) EXPECT_TRUE(got[name].Equals(value)) << name;
  }
}

TEST(RecomputeTest, ItTakesLessMemoryAndIsAnOption) {
  const Tensor x = Randn({32, 3, 16, 16});
  Training a(DType::kF32), b(DType::kF32);
  auto less = StaticGraph::Compile(a.CaptureStep(x).graph);
  auto more = StaticGraph::Compile(b.CaptureStep(x).graph, {.recompute = false});
  ASSERT_TRUE(less.ok() && more.ok());
  EXPECT_EQ(CountOf(more->graph(), "batch_norm_act_train"), 2);
  EXPECT_GT(CountOf(less->graph(), "batch_norm_act_train"), 2);
  EXPECT_LT(less->memory().arena_bytes, more->memory().arena_bytes);
  EXPECT_NE(less->Explain().find("recompute"), std::string::npos) << less->Explain();
}

// If nothing else keeps a result's argument, recomputing the result would keep the argument instead
// and save nothing.
TEST(RecomputeTest, WhatWouldKeepItsArgumentStays) {
  Tensor w = Randn({64, 1024}).SetRequiresGrad();
  const auto step = [&w](absl::Span<const Tensor> in) {
    w.ZeroGrad();
    Sum(Tanh(Tanh(in[0] * w) + 1)).Backward();  // each keeps its result
    return TensorList{w.grad()};
  };
  const Tensor x = Randn({64, 1024});
  Graph graph = Capture(step, {&x, 1}).graph;
  const size_t before = graph.instrs.size();
  RunPass(Recompute, graph);
  EXPECT_EQ(graph.instrs.size(), before);
}

// gelu keeps its argument, the matmul behind it its result: that comes again from the argument.
TEST(RecomputeTest, AnElementwiseResultIsComputedFromWhatIsKeptAnyway) {
  Tensor w = Randn({64, 64}).SetRequiresGrad();
  const auto step = [&w](absl::Span<const Tensor> in) {
    w.ZeroGrad();
    Tensor y = in[0];
    for (int i = 0; i < 4; ++i) y = Matmul(Gelu(Matmul(y, w)), w);
    const Tensor loss = Sum(Square(y));
    loss.Backward();
    return TensorList{loss, w.grad()};
  };
  const Tensor x = Randn({512, 64}) * 0.01;
  Graph graph = Capture(step, {&x, 1}).graph;
  const TensorList want = RunGraph(graph, {&x, 1});
  const Tensor loss = want[0].Clone(), gradient = want[1].Clone();
  EXPECT_GE(RunPass(Recompute, graph).changes, 1);
  EXPECT_GE(CountOf(graph, "gelu"), 5);
  const TensorList got = RunGraph(graph, {&x, 1});
  EXPECT_TRUE(got[0].Equals(loss));
  EXPECT_TRUE(got[1].Equals(gradient));
}

// A result that only the backward pass reads is computed late anyway.
TEST(RecomputeTest, WhatNothingReadsBeforeStays) {
  Tensor w = Randn({256, 256}).SetRequiresGrad();
  const auto step = [&w](absl::Span<const Tensor> in) {
    w.ZeroGrad();
    const Tensor& x = in[0];
    const Tensor y1 = Matmul(x, w), y2 = Matmul(w, x), s1 = Exp(x), s2 = Tanh(x);
    const Tensor r = Sum(Expand(x, {16, 256, 256}) + 1);
    y1.Backward(s1);
    y2.Backward(s2);
    return TensorList{r, w.grad()};
  };
  const Tensor x = Randn({256, 256});
  auto graph = StaticGraph::Compile(Capture(step, {&x, 1}).graph);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const TensorList got = graph->Call({&x, 1});
  EXPECT_EQ(CountOf(graph->captured(), "exp"), 1);
  const TensorList want = step({&x, 1});
  EXPECT_TRUE(got[1].Equals(want[1]));
}

// Two peaks of one height: lowering only one of them gains nothing.
TEST(RecomputeTest, ItDoesNothingThatLowersNoPeak) {
  Tensor w = Randn({64, 64}).SetRequiresGrad();
  const auto step = [&w](absl::Span<const Tensor> in) {
    w.ZeroGrad();
    Tensor y = in[0];
    for (int i = 0; i < 2; ++i) y = Matmul(Gelu(Matmul(y, w)), w);
    const Tensor loss = Sum(Square(y));
    loss.Backward();
    // This peak is higher than that of training, and contains none of its tensors.
    const Tensor tall = Expand(in[0], {64, 512, 64}) + 1;
    return TensorList{loss, Sum(tall * 2)};
  };
  const Tensor x = Randn({512, 64}) * 0.01;
  Graph graph = Capture(step, {&x, 1}).graph;
  EXPECT_EQ(RunPass(Recompute, graph).changes, 0);
}

// The sum itself and the sum of its gradient, once each, whatever the backward pass reads.
TEST(RecomputeTest, CollectivesAreNotCalledAgain) {
  Tensor w = Randn({64, 1024}).SetRequiresGrad();
  const auto step = [&w](absl::Span<const Tensor> in) {
    w.ZeroGrad();
    Sum(Tanh(AllReduce(Tanh(in[0] * w)) + 1)).Backward();
    return TensorList{w.grad()};
  };
  const Tensor x = Randn({64, 1024});
  Graph graph = Capture(step, {&x, 1}).graph;
  RunPass(Recompute, graph);
  EXPECT_EQ(CountOf(graph, "all_reduce"), 2);
}

}  // namespace
}  // namespace firn
