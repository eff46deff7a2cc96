// Large parameters are updated where their gradients are ready, and nothing changes by it.

#include "autograd/graph/passes/update_early.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "nn/linear.h"
#include "optim/sgd.h"
#include "tensor/dispatch.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::OpsOf;
using testing::RunGraph;
using testing::RunPass;

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
    for (GradientEffect& e : graph.gradients) {  // as compiling does it
      graph.value(e.value).bound = Tensor();
      graph.buffer_of(e.value).kind = Buffer::Kind::kTemp;
      e.value = kNoValue;
    }
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

TEST(UpdateEarlyTest, MovesLargeParametersOnly) {
  Training t;
  const Tensor x = Randn({8, 4});
  Graph graph = t.Captured(x);
  ASSERT_EQ(CountOf(graph, "sgd_step"), 1);
  const size_t before = graph.instrs.size();
  const PassReport report = RunPass(UpdateEarly, graph);
  ASSERT_EQ(report.changes, 1) << OpsOf(graph);
  EXPECT_NE(report.what[0].find("f32 [300, 256]"), std::string::npos) << report.what[0];
  EXPECT_EQ(CountOf(graph, "sgd_step"), 2);
  EXPECT_EQ(graph.instrs.size(), before + 1);
  // The first layer's backward comes after it, the update of all others stays behind that.
  EXPECT_LT(PositionOf(graph, "sgd_step", false), PositionOf(graph, "relu_grad", true));
  EXPECT_EQ(PositionOf(graph, "sgd_step", true), graph.instrs.size() - 1);
}

TEST(UpdateEarlyTest, StepsStayTheSame) {
  const Tensor x = Randn({8, 4});
  Training moved, plain;
  Graph graph = moved.Captured(x);
  RunPass(UpdateEarly, graph);
  plain.Step(x);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(RunGraph(graph, {&x, 1})[0].Equals(plain.Step(x))) << i;
  }
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(moved.large.parameters()[i].Equals(plain.large.parameters()[i])) << i;
    EXPECT_TRUE(moved.small.parameters()[i].Equals(plain.small.parameters()[i])) << i;
  }
}

// A second update of one parameter, and a reader of the new value, stay behind the first.
TEST(UpdateEarlyTest, KeepsTheOrderOfWhatDependsOnEachOther) {
  const Tensor w = Ones({300, 300}), g = Full({300, 300}, 2.0);
  const auto fn = [&](absl::Span<const Tensor> in) {
    const Tensor grad = in[0] * g, none;
    const Tensor waste = Exp(grad);
    ClipGradValue({Tensor(grad)}, 1.5);
    return TensorList{w + grad, waste};
  };
  const Tensor x = Ones({300, 300});
  Graph graph = Capture(fn, {&x, 1}).graph;
  RunPass(UpdateEarly, graph);
  const TensorList out = RunGraph(graph, {&x, 1});
  EXPECT_TRUE(out[0].Equals(Full({300, 300}, 2.5)));
  EXPECT_TRUE(out[1].Equals(Exp(g)));
}

}  // namespace
}  // namespace firn
