// Frozen runs do what ordinary ones do, to the bit, and can be mixed with them.

#include "firn/autograd/graph/static_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/plan.h"
#include "firn/device/cpu_allocator.h"
#include "firn/device/parallel.h"
#include "firn/nn/conv.h"
#include "firn/optim/adam.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/op.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/autograd/graph/training.h"

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

TEST(StaticGraphTest, OnlyWhatCapturedHasAFirstResult) {
  StaticGraph graph = Freeze([](const Tensor& x) { return x + 1; }, Ones({2}));
  StaticGraph compiled = *StaticGraph::Compile(graph.captured());
  EXPECT_TRUE(graph.TakeFirst().Equals(Full({2}, 2.0)));
  EXPECT_THROW(graph.TakeFirst(), Error);
  EXPECT_THROW(compiled.TakeFirst(), Error);
  EXPECT_THROW(compiled.TakeFirstResults(), Error);
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

using testing::Batch;

struct Training : testing::Training<testing::ConvNet, optim::Adam> {
  Training() : testing::Training<testing::ConvNet, optim::Adam>({.lr = 1e-2}) {}
};
std::vector<Batch> SomeBatches(int count) { return testing::Batches(count, {4, 1, 8, 8}, 5); }

TEST(StaticGraphTest, FrozenTrainingStepsAgreeWithOrdinaryOnesInAnyMixture) {
  const std::vector<Batch> batches = SomeBatches(20);
  std::vector<float> want_losses;
  StateDict want_state;
  {
    Training t;
    for (const Batch& batch : batches) want_losses.push_back(t.Step(batch).Item<float>());
    want_state = t.State();
  }
  for (const unsigned mixture : {0u, ~0u, 0x5a5a5u}) {
    SCOPED_TRACE(mixture);
    Training t;
    StaticGraph step = t.FrozenStep(batches[0]);  // the run that is captured is a step as well
    std::vector<float> losses = {want_losses[0]};
    for (size_t i = 1; i < batches.size(); ++i) {
      const Batch& batch = batches[i];
      const bool ordinary = (mixture >> i & 1u) != 0;
      losses.push_back((ordinary ? t.Step(batch) : step(batch.x, batch.labels)).Item<float>());
    }
    EXPECT_EQ(losses, want_losses);
    testing::ExpectEqualStates(t.State(), want_state);
  }
}

// A capture holds the tensors that it sees. That must not look like a reader of a gradient.
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

// Pieces of a tensor give their gradients to its parts, not to sums of as many tensors as large.
TEST(StaticGraphTest, GradientsOfPiecesAreAddedInPlace) {
  // Sums of small whole numbers, so that their order makes no difference.
  const auto numbers = [](float first) {
    return FromVector<float>({first, -2, 3, 5, -1, 4, 2, 6, -3, 1, 7, first}, {2, 6});
  };
  Tensor w = numbers(8).SetRequiresGrad();
  const auto loss_of = [&w](const Tensor& x) {
    const std::vector<Tensor> gates = Split(w * x, 2, 1);
    return Sum(gates[0] * gates[1]) + Sum(gates[2] * 7) + Sum(Select(w, 0, 1) * x) +
           Sum(Slice(w, 1, 1, 6, 2) * 3) + Sum(Slice(w, 1, 0, 4) * 5);
  };
  const Tensor in = numbers(3), other = numbers(-5);
  StaticGraph step = Freeze(
      [&](const Tensor& x) {
        w.ZeroGrad();
        const Tensor loss = loss_of(x);
        loss.Backward();
        return loss;
      },
      in);
  int whole = 0;
  for (const Instr& instr : step.captured().instrs) {
    whole += instr.op->name == "slice_scatter" ? 1 : 0;
  }
  EXPECT_EQ(whole, 2) << step.captured().DebugString();  // the first piece of w * x, and of w
  for (const Tensor& x : {other, in}) {
    step(x);
    const Tensor frozen = w.grad().Clone();
    w.ZeroGrad();
    loss_of(x).Backward();
    EXPECT_TRUE(w.grad().Equals(frozen));
    // Where gradients are recorded in their turn, nothing is written in place.
    EXPECT_TRUE(Grad(loss_of(x), w, {.create_graph = true}).Equals(frozen));
  }
}

TEST(StaticGraphTest, ARunAllocatesNothing) {
  const Batch batch = SomeBatches(1)[0];
  Training t;
  StaticGraph step = t.FrozenStep(batch);
  const Tensor in[] = {batch.x, batch.labels};
  TensorList out(1);
  ASSERT_TRUE(step.Run(in, absl::MakeSpan(out)).ok());
  const int64_t before = CpuAllocator().stats().allocations;
  ASSERT_TRUE(step.Run(in, absl::MakeSpan(out)).ok());
  EXPECT_EQ(CpuAllocator().stats().allocations, before);
  EXPECT_LE(step.memory().arena_bytes, step.memory().lower_bound_bytes * 115 / 100);
}

// While one exists, operations run on that many threads.
struct ScopedThreads {
  explicit ScopedThreads(int threads) { SetNumThreads(threads); }
  ~ScopedThreads() { SetNumThreads(before); }
  const int before = NumThreads();
};

// The loss of an ordinary second step, on that many threads.
float OrdinarySecondLoss(const std::vector<Batch>& batches, int threads) {
  Training t;
  t.Step(batches[0]);
  const ScopedThreads other(threads);
  return t.Step(batches[1]).Item<float>();
}

TEST(StaticGraphTest, ChangingTheNumberOfThreadsIsNoticed) {
  const std::vector<Batch> batches = SomeBatches(2);
  const int threads = NumThreads() + 3;
  const float want = OrdinarySecondLoss(batches, threads);
  Training t;
  StaticGraph step = t.FrozenStep(batches[0]);
  const ScopedThreads other(threads);
  EXPECT_EQ(step(batches[1].x, batches[1].labels).Item<float>(), want);
}

// After a binding that failed midway, the next run binds everything again.
TEST(StaticGraphTest, ABindingThatFailedIsRepeated) {
  const std::vector<Batch> batches = SomeBatches(2);
  const int threads = NumThreads() + 1;
  const float want = OrdinarySecondLoss(batches, threads);
  Training t;
  StaticGraph step = t.FrozenStep(batches[0]);
  const ScopedThreads other(threads);
  t.net->To(DType::kF64);
  const Tensor in[] = {batches[1].x, batches[1].labels};
  for (int i = 0; i < 2; ++i) {
    TensorList out(1);
    const absl::Status status = step.Run(in, absl::MakeSpan(out));
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  }
  t.net->To(DType::kF32);
  EXPECT_EQ(step(in[0], in[1]).Item<float>(), want);
}

TEST(StaticGraphTest, ARunThatFoundNoMemoryCanBeRepeated) {
  StaticGraph graph =
      Freeze([](const Tensor& x) { return Sum(Exp(x) * Exp(x * 2)); }, Ones({1 << 16}));
  const Tensor x = Randn({1 << 16});
  const Tensor want = graph(x);
  Tensor out = want.Clone();
  const ScopedThreads other(NumThreads() + 1);  // the memory is planned anew
  CpuAllocator().EmptyCache();
  const int64_t others = CpuAllocator().stats().live_bytes - graph.memory().arena_bytes;
  CpuAllocator().SetLimit(static_cast<size_t>(others));
  const absl::Status status = graph.Run({&x, 1}, absl::MakeSpan(&out, 1));
  CpuAllocator().SetLimit(std::nullopt);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_NEAR(graph(x).Item(), want.Item(), 1e-5 * std::abs(want.Item()));
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

// The run drops this gradient, but only after it has read it.
TEST(StaticGraphTest, TheGradientThatTheRunClearsMayBeItsInput) {
  Tensor w = Ones({2}).SetRequiresGrad();
  const Tensor x = FromVector<float>({3, 4});
  StaticGraph graph = Freeze(
      [&w](const Tensor& in) {
        w.ZeroGrad();
        Sum(w * in).Backward();
        w.ZeroGrad();
        return in;
      },
      x);
  Sum(w * x).Backward();
  EXPECT_TRUE(graph.Call(absl::MakeConstSpan(&w.grad(), 1))[0].Equals(x));
  EXPECT_FALSE(w.grad().defined());
}

TEST(StaticGraphTest, ConstantsThatWereReplacedAreGone) {
  nn::Conv2d conv({.in = 16, .out = 16, .kernel = 3});
  const NoGradScope no_grad;
  const Tensor x = Randn({2, 16, 8, 8}), shift = Randn({2, 16, 6, 6});
  // The kernels want it in blocks of channels, like the convolution's result, and it is reordered
  // once.
  StaticGraph step = Freeze(
      {.constant_states = true}, [&](const Tensor& in) { return conv(in) + shift; }, x);
  const Graph& graph = step.graph();
  std::vector<bool> used(graph.buffers.size());
  for (const Instr& instr : graph.instrs) {
    for (ValueId id : instr.in) {
      if (id != kNoValue) used[static_cast<size_t>(graph.value(id).buffer)] = true;
    }
  }
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    EXPECT_TRUE(used[i] || graph.buffers[i].kind != Buffer::Kind::kConstant)
        << "constant " << i << " of " << graph.buffers[i].bytes << " bytes\n"
        << graph.DebugString();
  }
}

TEST(StaticGraphTest, RandomNumbersAdvance) {
  StaticGraph graph = Freeze([](const Tensor& x) { return x + RandnLike(x); }, Zeros({8}));
  EXPECT_FALSE(graph(Zeros({8})).Equals(graph(Zeros({8}))));
}

TEST(StaticGraphTest, ALearningRateThatChangesTakesEffect) {
  const Batch batch = SomeBatches(1)[0];
  Training t;
  StaticGraph step = t.FrozenStep(batch);
  t.optimizer->SetLr(0);
  TensorList before;
  for (const Tensor& p : t.net->parameters()) before.push_back(p.Clone());
  step(batch.x, batch.labels);
  for (const NamedTensor& p : t.net->named_parameters()) {
    EXPECT_TRUE(p.tensor.Equals(before.front())) << p.name;
    before.erase(before.begin());
  }
}

TEST(StaticGraphTest, IndicesAreCheckedInEveryRun) {
  StaticGraph graph = Freeze([](const Tensor& x, const Tensor& y) { return CrossEntropy(x, y); },
                             Randn({2, 3}), FromValues<int64_t>({0, 2}));
  EXPECT_THROW(graph(Randn({2, 3}), FromValues<int64_t>({0, 3})), Error);
}

}  // namespace
}  // namespace firn
