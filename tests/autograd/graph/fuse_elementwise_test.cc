// Chains of elementwise operations run as one, and no bit changes.

#include "firn/autograd/graph/fuse_elementwise.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/autograd/graph/in_place.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/parallel.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/internal/elementwise_program.h"
#include "firn/tensor/rng.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::GraphBuilder;
using testing::OpsOf;

struct Lowered {
  Graph plain, fused;
  PassReport report;
};

Lowered Fused(const Graph& graph) {
  Lowered result;
  result.plain = *Lower(graph);
  RaiseIfError(MarkInPlace(result.plain).status(), "in_place");
  result.fused = result.plain;
  absl::StatusOr<PassReport> report = FuseElementwise(result.fused);
  EXPECT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(result.fused.Verify().ok()) << result.fused.Verify();
  result.report = *std::move(report);
  return result;
}

TensorList RunLowered(const Graph& graph, absl::Span<const Tensor> in) {
  auto executor = Executor::Make(graph);
  EXPECT_TRUE(executor.ok()) << executor.status();
  TensorList out;
  for (ValueId id : graph.outputs) {
    out.push_back(Empty(graph.value(id).spec.shape, graph.value(id).spec.dtype));
  }
  // Twice: the first run must leave nothing behind.
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = (*executor)->Run(in, out);
    EXPECT_TRUE(status.ok()) << status;
  }
  return out;
}

void ExpectSame(const Lowered& graphs, absl::Span<const Tensor> in) {
  const TensorList got = RunLowered(graphs.fused, in), want = RunLowered(graphs.plain, in);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(got[i].Equals(want[i])) << i;
}

template <class F>
Graph CapturedOf(F fn, absl::Span<const Tensor> in) {
  const NoGradScope no_grad;
  return Capture([&](absl::Span<const Tensor> x) { return internal::AsList(fn(x)); }, in).graph;
}

TEST(FuseElementwiseTest, ARowBecomesOneOperation) {
  const Tensor in[] = {Randn({40, 1000}), Randn({40, 1000})};  // the last tile is shorter
  const Graph graph = CapturedOf(
      [](absl::Span<const Tensor> x) {
        const Tensor s = Sigmoid(x[0]);  // first, whatever order a compiler has for operands
        return Tanh(x[0] * x[1] + 0.5) * s;
      },
      in);
  const Lowered graphs = Fused(graph);
  EXPECT_EQ(OpsOf(graphs.fused), "elementwise_program");
  ASSERT_EQ(graphs.report.changes, 1);
  EXPECT_EQ(graphs.report.what[0], "sigmoid, mul, add, tanh, mul on f32 [40, 1000] on cpu");
  EXPECT_EQ(graphs.fused.instrs[0].out.size(), 1u);
  ExpectSame(graphs, in);
}

TEST(FuseElementwiseTest, WhatIsReadElsewhereIsAResult) {
  const Tensor in[] = {Randn({1 << 15})};
  const Graph graph = CapturedOf(
      [](absl::Span<const Tensor> x) {
        const Tensor y = Exp(x[0]), z = y * 2, s = Sum(z);
        return TensorList{Relu(z - y), s, y};
      },
      in);
  const Lowered graphs = Fused(graph);
  EXPECT_EQ(OpsOf(graphs.fused), "elementwise_program sum elementwise_program");
  EXPECT_EQ(graphs.fused.instrs[0].out.size(), 2u);
  ExpectSame(graphs, in);
}

TEST(FuseElementwiseTest, DtypesMayChangeOnTheWay) {
  for (DType dtype : {DType::kF64, DType::kF16, DType::kBF16}) {
    const Tensor in[] = {Randn({200, 100}).To(dtype), Randn({200, 100}).To(dtype)};
    const Graph graph = CapturedOf(
        [](absl::Span<const Tensor> x) {
          return Where(Gt(x[0], x[1]), Exp(x[0]), x[1] / 3).To(DType::kF32) * 2;
        },
        in);
    const Lowered graphs = Fused(graph);
    EXPECT_EQ(graphs.report.changes, 1) << OpsOf(graphs.fused);
    ExpectSame(graphs, in);
  }
}

TEST(FuseElementwiseTest, ChannelBlocksStayAsTheyAre) {
  const Tensor in[] = {Randn({4, 16, 24, 24}), Randn({16, 16, 3, 3})};
  const Graph graph = CapturedOf(
      [](absl::Span<const Tensor> x) {
        const Conv2dOptions same{.padding = 1};
        return Conv2d(Relu(Tanh(Conv2d(x[0], x[1], {}, same)) - 0.1), x[1], {}, same);
      },
      in);
  const Lowered graphs = Fused(graph);
  EXPECT_EQ(CountOf(graphs.fused, "elementwise_program"), 1) << OpsOf(graphs.fused);
  ExpectSame(graphs, in);
}

TEST(FuseElementwiseTest, EveryNumberOfThreadsGivesTheSame) {
  const int threads = NumThreads();
  const Tensor in[] = {Randn({100001})};
  const Graph graph =
      CapturedOf([](absl::Span<const Tensor> x) { return Exp(Sin(x[0]) * x[0]) + Tanh(x[0]); }, in);
  const Lowered graphs = Fused(graph);
  ASSERT_EQ(graphs.report.changes, 1);
  const TensorList want = RunLowered(graphs.plain, in);
  for (int n : {1, 2, 5}) {
    SetNumThreads(n);
    EXPECT_TRUE(RunLowered(graphs.fused, in)[0].Equals(want[0])) << n;
  }
  SetNumThreads(threads);
}

TEST(FuseElementwiseTest, LongRowsAreCut) {
  const Tensor in[] = {Randn({1 << 15})};
  const Graph graph = CapturedOf(
      [](absl::Span<const Tensor> x) {
        Tensor y = x[0];
        for (int i = 0; i < 30; ++i) y = Sin(y) + x[0];
        return y;
      },
      in);
  const Lowered graphs = Fused(graph);
  EXPECT_EQ(graphs.report.changes, 5) << OpsOf(graphs.fused);  // 60 operations by 12
  ExpectSame(graphs, in);
}

TEST(FuseElementwiseTest, SmallOtherAndSingleOperationsStay) {
  const Tensor in[] = {Randn({64, 1024}), Randn({1024}), Randn({100})};
  const Graph graph = CapturedOf(
      [](absl::Span<const Tensor> x) {
        // Broadcast, alone, transposed, small.
        return TensorList{Tanh(x[0] + x[1]), Exp(x[0].T()), Exp(Sin(x[2]))};
      },
      in);
  const Lowered graphs = Fused(graph);
  EXPECT_EQ(graphs.report.changes, 0) << OpsOf(graphs.fused);
}

// y lies where x was, which the chain reads for the last time in the same step.
TEST(FuseElementwiseTest, ResultsMayLieOverArguments) {
  const Tensor in[] = {Randn({256, 128})};
  const Graph graph = CapturedOf(
      [](absl::Span<const Tensor> x) {
        const Tensor a = Matmul(x[0], x[0].T());  // a temporary
        return Matmul(Exp(a * 0.01) + a, x[0]);
      },
      in);
  const Lowered graphs = Fused(graph);
  ASSERT_EQ(graphs.report.changes, 1) << OpsOf(graphs.fused);
  ExpectSame(graphs, in);
}

TEST(FuseElementwiseTest, WhatPassesOnNeedsNoMemory) {
  const Tensor in[] = {Randn({1 << 20})};
  const auto fn = [](absl::Span<const Tensor> x) {
    const Tensor y = Exp(x[0]);
    return Sum((y + Sin(y)) * Cos(y));
  };
  const Lowered graphs = Fused(CapturedOf(fn, in));
  const auto plain = Executor::Make(graphs.plain), fused = Executor::Make(graphs.fused);
  ASSERT_TRUE(plain.ok() && fused.ok());
  EXPECT_GE((*plain)->plan().arena_bytes, 2 * 4 << 20);
  EXPECT_LE((*fused)->plan().arena_bytes, 5 << 20);
}

// A training step whose gradients stay in the leaves.
TEST(FuseElementwiseTest, CompileFusesTrainingSteps) {
  Tensor w = Randn({1 << 15}).SetRequiresGrad();
  const auto step = [&w](const Tensor& x) {
    w.ZeroGrad();
    const Tensor loss = Sum(Tanh(w * x) * Sigmoid(w));
    loss.Backward();
    return loss;
  };
  StaticGraph graph = Freeze(step, Ones({1 << 15}));
  EXPECT_GE(CountOf(graph.graph(), "elementwise_program"), 2) << graph.graph().DebugString();
  EXPECT_NE(graph.Explain().find("fuse_elementwise"), std::string::npos);
  const Tensor x = Randn({1 << 15});
  const Tensor loss = graph(x), gradient = w.grad().Clone();
  EXPECT_EQ(step(x).Item(), loss.Item());
  EXPECT_TRUE(w.grad().Equals(gradient));
}

// No pass leaves such a chain, but a caller of this one may.
TEST(FuseElementwiseTest, ARowThatNothingReadsStays) {
  GraphBuilder b;
  const ValueId x = b.Input({1 << 15});
  b.Call("tanh", {b.Call("exp", {x})});
  const Graph graph = b.Build({b.Call("sum", {x}, ReduceAttrs{})});
  const Lowered graphs = Fused(graph);
  EXPECT_EQ(graphs.report.changes, 0);
}

}  // namespace
}  // namespace firn
