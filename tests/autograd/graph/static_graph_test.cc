// Frozen runs do what ordinary ones do, to the bit, and can be mixed with them.

#include "autograd/graph/static_graph.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "device/cpu_allocator.h"
#include "device/parallel.h"
#include "nn/batch_norm.h"
#include "nn/conv.h"
#include "nn/dropout.h"
#include "nn/linear.h"
#include "optim/adam.h"
#include "tensor/error.h"
#include "tensor/from.h"
#include "tensor/operators.h"
#include "tensor/ops.h"
#include "tensor/rng.h"

namespace firn {
namespace {

TEST(StaticGraphTest, ARunComputesWithNewInputs) {
  StaticGraph graph = Freeze([](const Tensor& x, const Tensor& y) { return Exp(x) * 2 + y; },
                             Ones({2, 3}), Ones({3}));
  const Tensor x = Randn({2, 3}), y = Randn({3});
  EXPECT_TRUE(graph(x, y).Equals(Exp(x) * 2 + y));
  EXPECT_TRUE(graph(y + x, y).Equals(Exp(y + x) * 2 + y));
}

TEST(StaticGraphTest, ResultsOfOneRunSurviveTheNext) {
  StaticGraph graph = Freeze([](const Tensor& x) { return x + 1; }, Zeros({4}));
  const Tensor first = graph(Zeros({4}));
  const Tensor second = graph(Ones({4}));
  EXPECT_TRUE(first.Equals(Ones({4})));
  EXPECT_TRUE(second.Equals(Full({4}, 2.0)));
}

TEST(StaticGraphTest, ViewsAndInputsMayBeResults) {
  StaticGraph graph = Freeze(
      [](const Tensor& x) {
        return TensorList{x.T(), x, Reshape(x * 2, {6})};
      },
      Zeros({2, 3}));
  const Tensor x = Randn({2, 3});
  const Tensor in[] = {x};
  const TensorList out = graph.Call(in);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_TRUE(out[0].Equals(x.T()));
  EXPECT_TRUE(out[1].Equals(x));
  EXPECT_TRUE(out[2].Equals(Reshape(x * 2, {6})));
}

TEST(StaticGraphTest, WhatDoesNotFitIsRefusedAndNamed) {
  StaticGraph graph = Freeze([](const Tensor& x) { return x + 1; }, Zeros({4}));
  TensorList out(1);
  const Tensor wrong[] = {Zeros({5})};
  const absl::Status status = graph.Run(wrong, absl::MakeSpan(out));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("f32 [4] on cpu"), absl::string_view::npos) << status;
  EXPECT_NE(status.message().find("f32 [5] on cpu"), absl::string_view::npos) << status;
  EXPECT_THROW(graph(Zeros({4}), Zeros({4})), Error);
  EXPECT_THROW(graph(Tensor()), Error);
}

struct Net : nn::Module {
  nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.in = 1, .out = 16, .kernel = 5, .padding = 2});
  nn::BatchNorm2d& bn1 = Add<nn::BatchNorm2d>("bn1", {.channels = 16});
  nn::Conv2d& conv2 = Add<nn::Conv2d>("conv2", {.in = 16, .out = 32, .kernel = 3, .padding = 1});
  nn::Dropout& drop = Add<nn::Dropout>("drop", {.p = 0.25});
  nn::Linear& fc = Add<nn::Linear>("fc", {.in = 32 * 16, .out = 5});
  Tensor Forward(const Tensor& x) {
    const Tensor h = MaxPool2d(Relu(bn1(conv1(x))), 2);
    return fc(drop(Flatten(Relu(conv2(h)), 1)));
  }
};

// A model, its optimizer and its data, the same for every maker of one.
struct Training {
  std::unique_ptr<Net> net;
  std::unique_ptr<optim::Adam> optimizer;
  Tensor images, labels;

  Training() {
    ManualSeed(7);
    net = std::make_unique<Net>();
    optimizer = std::make_unique<optim::Adam>(net->parameters(), optim::AdamOptions{.lr = 1e-2});
    images = Randn({4, 1, 8, 8});
    labels = Randint(0, 5, {4});
  }
  Tensor Step(const Tensor& x, const Tensor& y) {
    optimizer->ZeroGrad();
    const Tensor loss = CrossEntropy(net->Forward(x), y);
    loss.Backward();
    optimizer->Step();
    return loss;
  }
  StaticGraph FrozenStep() {
    return Freeze([this](const Tensor& x, const Tensor& y) { return Step(x, y); }, images, labels);
  }
  std::vector<float> Values() const {
    std::vector<float> all;
    for (const Tensor& t : net->parameters()) {
      for (float v : t.ToVector<float>()) all.push_back(v);
    }
    return all;
  }
};

TEST(StaticGraphTest, FrozenTrainingStepsAgreeWithOrdinaryOnesInAnyMixture) {
  std::vector<float> want_losses, want_values;
  {
    Training t;
    for (int i = 0; i < 20; ++i) want_losses.push_back(t.Step(t.images, t.labels).Item<float>());
    want_values = t.Values();
  }
  for (const unsigned mixture : {0u, ~0u, 0x5a5a5u}) {
    Training t;
    std::vector<float> losses = {want_losses[0]};  // the run that is captured is a step as well
    StaticGraph step = t.FrozenStep();
    for (int i = 1; i < 20; ++i) {
      const bool ordinary = (mixture >> i & 1u) != 0;
      const Tensor loss = ordinary ? t.Step(t.images, t.labels) : step(t.images, t.labels);
      losses.push_back(loss.Item<float>());
    }
    EXPECT_EQ(losses, want_losses) << mixture;
    EXPECT_EQ(t.Values(), want_values) << mixture;
  }
}

// A capture holds what it sees, which must not look like somebody who reads a gradient.
TEST(StaticGraphTest, ACaptureAddsGradientsInPlaceAsUsual) {
  Tensor w = Randn({3}).SetRequiresGrad();
  const Tensor in[] = {Ones({3})};
  const Captured captured = Capture(
      [&w](absl::Span<const Tensor> x) {
        w.ZeroGrad();
        const Tensor loss = Sum(w * x[0]) + Sum(Exp(w)) + Sum(w * w);
        loss.Backward();
        return TensorList{loss};
      },
      in);
  int copies = 0, added = 0;
  for (const Instr& instr : captured.graph.instrs) {
    copies += instr.op->name == "clone" ? 1 : 0;
    added += instr.op->name == "accumulate" ? 1 : 0;
  }
  EXPECT_EQ(copies, 0) << captured.graph.DebugString();
  EXPECT_GT(added, 0) << captured.graph.DebugString();
}

TEST(StaticGraphTest, ARunAllocatesNothing) {
  Training t;
  StaticGraph step = t.FrozenStep();
  const Tensor in[] = {t.images, t.labels};
  TensorList out(1);
  ASSERT_TRUE(step.Run(in, absl::MakeSpan(out)).ok());
  const int64_t before = CpuAllocator().stats().allocations;
  ASSERT_TRUE(step.Run(in, absl::MakeSpan(out)).ok());
  EXPECT_EQ(CpuAllocator().stats().allocations, before);
  EXPECT_LE(step.memory().arena_bytes, step.memory().lower_bound_bytes * 115 / 100);
}

TEST(StaticGraphTest, ChangingTheNumberOfThreadsIsNoticed) {
  Training t;
  StaticGraph step = t.FrozenStep();
  const int threads = NumThreads();
  SetNumThreads(threads + 3);
  const Tensor loss = step(t.images, t.labels);
  SetNumThreads(threads);
  EXPECT_GT(loss.Item<float>(), 0);
}

TEST(StaticGraphTest, GradientsOfForwardAndBackwardAreLeftInTheParameters) {
  Tensor w = Randn({3});
  w.SetRequiresGrad();
  const auto run = [&w](const Tensor& x) {
    w.ZeroGrad();
    const Tensor loss = Sum(w * w * x);
    loss.Backward();
    return loss;
  };
  StaticGraph graph = Freeze(run, Ones({3}));
  const Tensor x = Randn({3});
  const Tensor loss = graph(x);
  const Tensor got = w.grad().Clone();
  EXPECT_EQ(loss.Item(), run(x).Item());
  EXPECT_TRUE(got.Equals(w.grad()));
  graph(x * 2);  // after an ordinary run made a gradient of its own
  const Tensor again = w.grad().Clone();
  run(x * 2);
  EXPECT_TRUE(again.Equals(w.grad()));
}

TEST(StaticGraphTest, RandomNumbersAdvance) {
  StaticGraph graph = Freeze([](const Tensor& x) { return x + RandnLike(x); }, Zeros({8}));
  EXPECT_FALSE(graph(Zeros({8})).Equals(graph(Zeros({8}))));
}

TEST(StaticGraphTest, ALearningRateThatChangesTakesEffect) {
  Training t;
  StaticGraph step = t.FrozenStep();
  t.optimizer->SetLr(0);
  const std::vector<float> before = t.Values();
  step(t.images, t.labels);
  EXPECT_EQ(t.Values(), before);
}

TEST(StaticGraphTest, IndicesAreCheckedInEveryRun) {
  StaticGraph graph = Freeze([](const Tensor& x, const Tensor& y) { return CrossEntropy(x, y); },
                             Randn({2, 3}), FromValues<int64_t>({0, 2}));
  EXPECT_THROW(graph(Randn({2, 3}), FromValues<int64_t>({0, 3})), Error);
}

}  // namespace
}  // namespace firn
