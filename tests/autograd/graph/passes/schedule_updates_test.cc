// Gradients and updates of large parameters meet early or late, and nothing changes by it.

#include "firn/autograd/graph/passes/schedule_updates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "firn/nn/linear.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/collective/gather.h"
#include "tests/autograd/graph/passes/graph_builder.h"
#include "tests/device/comm/on_ranks.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::GraphBuilder;
using testing::OpsOf;
using testing::RunGraph;
using testing::RunPass;

// Runs the pass as compiling does.
void DropGradients(Graph& graph) {
  for (GradientEffect& e : graph.gradients) {
    if (e.value == kNoValue) continue;
    graph.value(e.value).bound = Tensor();
    graph.buffer_of(e.value).kind = Buffer::Kind::kTemp;
    e.value = kNoValue;
  }
}

// Two layers, of which the second has a large weight: its gradient is ready first.
struct Training {
  nn::Linear small{{.in = 4, .out = 256}};
  nn::Linear large{{.in = 256, .out = 300}};
  std::unique_ptr<optim::Sgd> sgd;

  Training() {
    ManualSeed(3);
    for (nn::Linear* layer : {&small, &large}) {
      for (Tensor p : layer->parameters()) {
        const NoGradScope no_grad;
        p.CopyFrom(RandnLike(p) * 0.1);
      }
    }
    auto parameters = small.parameters();
    for (const Tensor& p : large.parameters()) parameters.push_back(p);
    sgd = std::make_unique<optim::Sgd>(parameters, optim::SgdOptions{.lr = 0.1, .momentum = 0.9});
  }
  Tensor Step(const Tensor& x) {
    sgd->ZeroGrad();
    const Tensor loss = Mean(Square(large(Relu(small(x)))));
    loss.Backward();
    sgd->Step();
    return loss;
  }
  Graph Captured(const Tensor& x) {
    const auto fn = [this](absl::Span<const Tensor> in) { return TensorList{Step(in[0])}; };
    Graph graph = Capture(fn, {&x, 1}).graph;
    DropGradients(graph);
    return graph;
  }
};

size_t PositionOf(const Graph& graph, std::string_view op, bool last) {
  size_t position = graph.instrs.size();
  for (size_t i = 0; i < graph.instrs.size(); ++i) {
    if (graph.instrs[i].op->name == op && (last || position == graph.instrs.size())) position = i;
  }
  return position;
}

// With a large batch, activations take as much memory as the gradient.
TEST(ScheduleUpdatesTest, UpdatesLargeParametersEarly) {
  Training t;
  const Tensor x = Randn({64, 4});
  Graph graph = t.Captured(x);
  ASSERT_EQ(CountOf(graph, "sgd_step"), 1);
  const size_t before = graph.instrs.size();
  const PassReport report = RunPass(ScheduleUpdates, graph);
  ASSERT_EQ(report.changes, 1) << OpsOf(graph);
  EXPECT_NE(report.what[0].find("f32 [300, 256]"), std::string::npos) << report.what[0];
  EXPECT_NE(report.what[0].find("operations earlier"), std::string::npos) << report.what[0];
  EXPECT_EQ(CountOf(graph, "sgd_step"), 2);
  EXPECT_EQ(graph.instrs.size(), before + 1);
  // The first layer's backward pass comes after this update, and the updates of all others after
  // that.
  EXPECT_LT(PositionOf(graph, "sgd_step", false), PositionOf(graph, "relu_grad", true));
  EXPECT_EQ(PositionOf(graph, "sgd_step", true), graph.instrs.size() - 1);
}

TEST(ScheduleUpdatesTest, ComputesGradientsOfSmallBatchesLate) {
  Training t;
  const Tensor x = Randn({8, 4});
  Graph graph = t.Captured(x);
  const PassReport report = RunPass(ScheduleUpdates, graph);
  ASSERT_EQ(report.changes, 1) << OpsOf(graph);
  EXPECT_NE(report.what[0].find("later, with its gradient"), std::string::npos) << report.what[0];
  const size_t update = PositionOf(graph, "sgd_step", false);
  EXPECT_GT(update, PositionOf(graph, "relu_grad", true));
  EXPECT_EQ(graph.value(graph.instrs[update - 1].out[0]).spec.shape, Shape({300, 256}));
  EXPECT_EQ(update, graph.instrs.size() - 2);
}

// The gradient of p is computed late, from q, which must not be updated before.
TEST(ScheduleUpdatesTest, WhatALateGradientReadsIsUpdatedLateAsWell) {
  const auto run = [](bool schedule) {
    Tensor p = Ones({300, 300}).SetRequiresGrad(), q = Full({300, 300}, 3.0).SetRequiresGrad();
    optim::Sgd sgd({p, q}, {.lr = 0.5});
    const auto step = [&](absl::Span<const Tensor> in) {
      const NoGradScope no_grad;
      p.SetGrad(q * 2);
      q.SetGrad(Exp(in[0]));
      const Tensor after = Sum(Exp(in[0]));
      sgd.Step();
      return TensorList{after};
    };
    const Tensor x = Zeros({300, 300});
    Graph graph = Capture(step, {&x, 1}).graph;
    DropGradients(graph);
    if (schedule) {
      EXPECT_GT(RunPass(ScheduleUpdates, graph).changes, 0);
    }
    RunGraph(graph, {&x, 1});
    return p.ToVector<float>()[0];
  };
  EXPECT_EQ(run(true), run(false));
}

// The gradient of p is computed from a state that changes before p is updated.
TEST(ScheduleUpdatesTest, NoGradientIsComputedAfterWhatItReadsHasChanged) {
  const auto run = [](bool schedule) {
    Tensor p = Ones({300, 300}).SetRequiresGrad(), source = Zeros({300, 300});
    optim::Sgd sgd({p}, {.lr = 0.5});
    const auto step = [&](absl::Span<const Tensor> in) {
      const NoGradScope no_grad;
      p.SetGrad(Exp(source));
      source.CopyFrom(in[0]);
      const Tensor before = Sum(p);  // so that the update cannot come early
      sgd.Step();
      return TensorList{before};
    };
    const Tensor x = Ones({300, 300});
    Graph graph = Capture(step, {&x, 1}).graph;
    DropGradients(graph);
    if (schedule) RunPass(ScheduleUpdates, graph);
    source.Fill(2);
    RunGraph(graph, {&x, 1});
    return p.ToVector<float>()[0];
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(ScheduleUpdatesTest, StepsStayTheSame) {
  for (int64_t batch : {8, 64}) {
    const Tensor x = Randn({batch, 4});
    Training moved, plain;
    Graph graph = moved.Captured(x);
    RunPass(ScheduleUpdates, graph);
    plain.Step(x);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(RunGraph(graph, {&x, 1})[0].Equals(plain.Step(x))) << i;
    }
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(moved.large.parameters()[i].Equals(plain.large.parameters()[i])) << i;
      EXPECT_TRUE(moved.small.parameters()[i].Equals(plain.small.parameters()[i])) << i;
    }
  }
}

// A second update of one parameter, and a reader of the new value, stay behind the first.
TEST(ScheduleUpdatesTest, KeepsTheOrderOfWhatDependsOnEachOther) {
  const Tensor w = Ones({300, 300}), g = Full({300, 300}, 2.0);
  const auto fn = [&](absl::Span<const Tensor> in) {
    const Tensor grad = in[0] * g, none;
    const Tensor waste = Exp(grad);
    ClipGradValue({Tensor(grad)}, 1.5);
    return TensorList{w + grad, waste};
  };
  const Tensor x = Ones({300, 300});
  Graph graph = Capture(fn, {&x, 1}).graph;
  RunPass(ScheduleUpdates, graph);
  const TensorList out = RunGraph(graph, {&x, 1});
  EXPECT_TRUE(out[0].Equals(Full({300, 300}, 2.5)));
  EXPECT_TRUE(out[1].Equals(Exp(g)));
}

absl::Status InferNothing(InferContext&) { return absl::OkStatus(); }
absl::Status DoNothing(KernelContext&) { return absl::OkStatus(); }

FIRN_REGISTER_OP(schedule_test_collective) {
  return {.doc = "Changes nothing; as an update of several, and collective.",
          .inputs = {{.name = "x", .inout = true, .variadic = true}},
          .infer = InferNothing,
          .collective = true,
          .kernels = {{.name = "loop", .run = DoNothing}}};
}

// One call is one call on all ranks, where they have it.
TEST(ScheduleUpdatesTest, TakesNoCollectiveApart) {
  GraphBuilder b;
  const ValueId p = b.State(Ones({300, 300})), q = b.State(Ones({300, 300}));
  const ValueId y = b.Call("exp", {b.Input({4})});
  b.Call("schedule_test_collective", {p, q});
  Graph graph = b.Build({y});
  EXPECT_EQ(RunPass(ScheduleUpdates, graph).changes, 0);
  EXPECT_EQ(OpsOf(graph), "exp schedule_test_collective");
}

// A gradient much larger than what it is gathered from would otherwise be computed late.
TEST(ScheduleUpdatesTest, GathersWhereTheProgramDoes) {
  testing::OnRanks(8, [](comm::Communicator& ranks) {
    Tensor p = Ones({256, 1024}).SetRequiresGrad();
    optim::Sgd sgd({p}, {.lr = 0.5});
    const auto step = [&](absl::Span<const Tensor> in) {
      const NoGradScope no_grad;
      p.SetGrad(AllGather(in[0]));
      const Tensor before = Sum(p);  // so that the update cannot come early
      const Tensor all = AllReduce(before);
      sgd.Step();
      return TensorList{all};
    };
    const Tensor x = Full({32, 1024}, ranks.rank());
    Graph graph = Capture(step, {&x, 1}).graph;
    DropGradients(graph);
    RunPass(ScheduleUpdates, graph);
    EXPECT_LT(PositionOf(graph, "all_gather", false), PositionOf(graph, "all_reduce", false));
  });
}

}  // namespace
}  // namespace firn
