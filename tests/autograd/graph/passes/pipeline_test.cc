// All passes together.

#include "firn/autograd/graph/passes/pipeline.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/nn/module.h"
#include "firn/optim/adam.h"
#include "firn/tensor/dispatch.h"
#include "tests/autograd/graph/passes/graph_builder.h"
#include "tests/autograd/graph/training.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::Difference;
using testing::OpsOf;

std::vector<std::string> NamesOf(const std::vector<PassReport>& reports) {
  std::vector<std::string> names;
  for (const PassReport& report : reports) names.push_back(report.pass);
  return names;
}

struct Model {
  nn::Conv2d conv{{.in = 3, .out = 8, .kernel = 3, .padding = 1}};
  nn::BatchNorm2d norm{{.channels = 8}};

  Model() { norm.Eval(); }
  Tensor operator()(const Tensor& x) {
    const Tensor unused = Exp(x);
    return Relu(norm(conv(x)));
  }
  Graph Captured() {
    const NoGradScope no_grad;
    const Tensor in[] = {Randn({2, 3, 8, 8})};
    return Capture([this](absl::Span<const Tensor> x) { return TensorList{(*this)(x[0])}; }, in)
        .graph;
  }
};

TEST(PipelineTest, ExactPassesKeepEveryBit) {
  Model model;
  Graph graph = model.Captured();
  const auto reports = RunPasses(graph);
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_EQ(
      NamesOf(*reports),
      (std::vector<std::string>{"dead_code", "fold_constants", "common_subexpressions",
                                "fuse_activation", "dead_code", "recompute", "schedule_updates"}));
  EXPECT_TRUE(graph.Verify().ok()) << graph.Verify();
  EXPECT_EQ(CountOf(graph, "channel_affine"), 1);
  const NoGradScope no_grad;
  const Tensor in[] = {Randn({2, 3, 8, 8})};
  EXPECT_TRUE(testing::RunGraph(graph, in)[0].Equals(model(in[0])));
}

TEST(PipelineTest, FrozenModelsComputeNothingTwice) {
  Model model;
  Graph graph = model.Captured();
  const auto reports =
      RunPasses(graph, {.arithmetic = Arithmetic::kReordered, .constant_states = true});
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_TRUE(graph.Verify().ok()) << graph.Verify();
  EXPECT_EQ(OpsOf(graph), "conv2d relu");
  const NoGradScope no_grad;
  const Tensor in[] = {Randn({2, 3, 8, 8})};
  EXPECT_LT(Difference(testing::RunGraph(graph, in)[0], model(in[0])), 2e-6);
}

TEST(PipelineTest, CompileTakesTheOptions) {
  Model model;
  auto exact = StaticGraph::Compile(model.Captured());
  auto reordered = StaticGraph::Compile(model.Captured(), {.arithmetic = Arithmetic::kReordered});
  ASSERT_TRUE(exact.ok()) << exact.status();
  ASSERT_TRUE(reordered.ok()) << reordered.status();
  EXPECT_EQ(CountOf(exact->graph(), "channel_affine"), 1);
  EXPECT_EQ(CountOf(reordered->graph(), "channel_affine"), 0);
  EXPECT_EQ(CountOf(exact->captured(), "exp"), 1);
  EXPECT_EQ(CountOf(exact->graph(), "exp"), 0);
  const NoGradScope no_grad;
  const Tensor x = Randn({2, 3, 8, 8});
  Tensor(model.norm.running_mean()).Fill(0.5);
  EXPECT_TRUE((*exact)(x).Equals(model(x)));
  EXPECT_LT(Difference((*reordered)(x), model(x)), 2e-6);
}

struct Net : nn::Module {
  nn::Conv2d& conv = Add<nn::Conv2d>("conv", {.in = 1, .out = 8, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& norm = Add<nn::BatchNorm2d>("norm", {.channels = 8});
  nn::Linear& fc = Add<nn::Linear>("fc", {.in = 8 * 36, .out = 5});
  Tensor Forward(const Tensor& x) { return fc(Flatten(Tanh(norm(conv(x))), 1)); }
};

TEST(PipelineTest, ReorderedTrainingStaysNearOrdinaryTraining) {
  using Training = testing::Training<Net, optim::Adam>;
  Training ordinary({.lr = 1e-3}), frozen({.lr = 1e-3});
  const testing::Batch batch = testing::Batches(1, {8, 1, 6, 6}, 5)[0];
  auto graph =
      StaticGraph::Compile(frozen.CapturedStep(batch), {.arithmetic = Arithmetic::kReordered});
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const Instr& instr : graph->graph().instrs) {
    EXPECT_TRUE(instr.op->name != "conv2d" || instr.in[2] == kNoValue) << Describe(instr);
  }
  ordinary.Step(batch);
  for (int i = 0; i < 20; ++i) {
    // Both kinds of step on one model.
    const Tensor got = i % 3 == 2 ? frozen.Step(batch) : (*graph)(batch.x, batch.labels);
    const double want = ordinary.Step(batch).Item();
    EXPECT_NEAR(got.Item(), want, 1e-5 * want) << i;
  }
  const StateDict got = frozen.net->state_dict(), want = ordinary.net->state_dict();
  for (const auto& [name, value] : want) {
    // The exception of Arithmetic::kReordered: the first has no gradient but rounding noise, which
    // Adam scales up, and the second shifts by it.
    if (name == "conv.bias" || name == "norm.running_mean") continue;
    EXPECT_LT(Difference(got[name], value), 2e-5) << name;
  }
}

}  // namespace
}  // namespace firn
