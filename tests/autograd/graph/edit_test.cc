// Edits by hand give graphs that compute what the edited code would; what does not fit is refused
// and leaves the graph as it was.

#include "firn/autograd/graph/edit.h"

#include <gtest/gtest.h>

#include <string>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::OpsOf;
using testing::RunGraph;

size_t PositionOf(const Graph& graph, std::string_view op) {
  size_t at = 0;
  while (at < graph.instrs.size() && graph.instrs[at].op->name != op) ++at;
  return at;
}

template <class F>
Graph GraphOf(F fn, const Tensor& x) {
  return Capture([&](absl::Span<const Tensor> in) { return TensorList{fn(in[0])}; }, {&x, 1}).graph;
}

Tensor RunOn(const Graph& graph, const Tensor& x) { return RunGraph(graph, {&x, 1})[0]; }

TEST(EditTest, AnOperationIsRemoved) {
  Graph graph = GraphOf([](const Tensor& x) { return Exp(Relu(x)); }, Ones({2, 3}));
  const auto remove = [](absl::Span<const Tensor> in) { return TensorList{in[0]}; };
  ASSERT_TRUE(ReplaceOperation(graph, PositionOf(graph, "relu"), remove).ok());
  EXPECT_EQ(OpsOf(graph), "exp");
  const Tensor x = Randn({2, 3});
  EXPECT_TRUE(RunOn(graph, x).Equals(Exp(x)));
}

TEST(EditTest, AnOperationIsReplacedByCodeWithStatesOfItsOwn) {
  const Tensor scale = Full({3}, 2.0);
  Graph graph = GraphOf([&](const Tensor& x) { return Exp(Relu(x * scale)); }, Ones({2, 3}));
  const Tensor shift = Randn({3});
  const auto code = [&](absl::Span<const Tensor> in) {
    return TensorList{Tanh(in[0] + shift) * scale};  // scale is known to the graph, shift is not
  };
  ASSERT_TRUE(ReplaceOperation(graph, PositionOf(graph, "relu"), code).ok());
  const Tensor x = Randn({2, 3});
  EXPECT_TRUE(RunOn(graph, x).Equals(Exp(Tanh(x * scale + shift) * scale)));
  Tensor(scale).Fill(3);
  EXPECT_TRUE(RunOn(graph, x).Equals(Exp(Tanh(x * scale + shift) * scale)));
}

TEST(EditTest, ViewsOfWhatIsReplacedFollow) {
  const auto fn = [](auto act) {
    return [act](const Tensor& x) { return Reshape(act(x), {6}) + Reshape(act(x).T(), {6}); };
  };
  Graph graph = GraphOf(
      [](const Tensor& x) {
        const Tensor y = Exp(x);
        return Reshape(y, {6}) + Reshape(y.T(), {6});
      },
      Ones({2, 3}));
  const auto code = [](absl::Span<const Tensor> in) { return TensorList{Tanh(in[0])}; };
  ASSERT_TRUE(ReplaceOperation(graph, PositionOf(graph, "exp"), code).ok());
  const Tensor x = Randn({2, 3});
  EXPECT_TRUE(RunOn(graph, x).Equals(fn([](const Tensor& t) { return Tanh(t); })(x)));
}

TEST(EditTest, BlockedResultsAreReplaced) {
  const NoGradScope no_grad;
  nn::Conv2d first({.in = 16, .out = 16, .kernel = 3, .padding = 1});
  nn::Conv2d second({.in = 16, .out = 16, .kernel = 3, .padding = 1});
  const Tensor x = Randn({1, 16, 8, 8});
  Graph graph = GraphOf([&](const Tensor& t) { return second(first(t)); }, x);
  const auto twice = [](absl::Span<const Tensor> in) {
    return TensorList{Conv2d(in[0], in[1], in[2], {.padding = {1}}) * 2};
  };
  ASSERT_TRUE(ReplaceOperation(graph, PositionOf(graph, "conv2d"), twice).ok());
  EXPECT_TRUE(RunOn(graph, x).Equals(second(first(x) * 2)));
}

TEST(EditTest, ResultsThatDoNotFitAreRefusedAndNothingChanges) {
  Graph graph = GraphOf([](const Tensor& x) { return Exp(Relu(x)); }, Ones({2, 3}));
  const std::string before = graph.DebugString();
  const auto refusal = [&](size_t at, CaptureFn fn) {
    return std::string(ReplaceOperation(graph, at, fn).message());
  };
  const auto other = [](absl::Span<const Tensor> in) { return TensorList{Sum(in[0])}; };
  EXPECT_NE(refusal(0, other).find("result 0 of relu is f32 [2, 3] on cpu, got f32 []"),
            std::string::npos)
      << refusal(0, other);
  const auto none = [](absl::Span<const Tensor>) { return TensorList(); };
  EXPECT_NE(refusal(0, none).find("result 0 of relu is read"), std::string::npos);
  const auto two = [](absl::Span<const Tensor> in) { return TensorList{in[0] * 1, in[0] * 2}; };
  EXPECT_NE(refusal(0, two).find("relu has 1 result, got 2"), std::string::npos);
  EXPECT_NE(refusal(9, other).find("there is no operation 9, only 2"), std::string::npos);
  EXPECT_EQ(graph.DebugString(), before);
}

TEST(EditTest, AnInputBecomesTheOutputOfAnotherGraph) {
  const Tensor w = Randn({3});
  Graph head = GraphOf([&](const Tensor& x) { return Exp(x * w); }, Ones({2, 3}));
  const Graph stem = GraphOf([&](const Tensor& x) { return Tanh(x + w); }, Ones({2, 3}));
  ASSERT_TRUE(RewireInput(head, 0, stem, 0).ok());
  ASSERT_EQ(head.inputs.size(), 1u);
  const Tensor x = Randn({2, 3});
  EXPECT_TRUE(RunOn(head, x).Equals(Exp(Tanh(x + w) * w)));
  Tensor(w).Fill(2);  // one state for both
  EXPECT_TRUE(RunOn(head, x).Equals(Exp(Tanh(x + w) * w)));
  const Graph wrong = GraphOf([](const Tensor& t) { return t * 2; }, Ones({4}));
  const absl::Status status = RewireInput(head, 0, wrong, 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (size_t input : {1, 5}) {
    EXPECT_EQ(RewireInput(head, input, stem, 0).code(), absl::StatusCode::kOutOfRange);
  }
}

TEST(EditTest, AnIntermediateIsKept) {
  Graph graph = GraphOf([](const Tensor& x) { return Exp(Relu(x)); }, Ones({4}));
  ASSERT_TRUE(AddOutput(graph, graph.instrs[0].out[0]).ok());
  const Tensor x = Randn({4});
  EXPECT_TRUE(RunGraph(graph, {&x, 1})[1].Equals(Relu(x)));
  EXPECT_EQ(AddOutput(graph, 77).code(), absl::StatusCode::kOutOfRange);
}

TEST(EditTest, APartIsTakenFromATrainingStep) {
  nn::Linear first({.in = 3, .out = 4}), second({.in = 4, .out = 2});
  auto parameters = first.parameters();
  for (const Tensor& p : second.parameters()) parameters.push_back(p);
  optim::Sgd sgd(parameters, {.lr = 0.1});
  const Tensor x = Randn({5, 3});
  const Graph step = GraphOf(
      [&](const Tensor& in) {
        sgd.ZeroGrad();
        const Tensor loss = Sum(Square(second(Relu(first(in)))));
        loss.Backward();
        sgd.Step();
        return loss;
      },
      x);
  const ValueId hidden = step.instrs[PositionOf(step, "relu")].out[0];
  const ValueId scores = step.instrs[PositionOf(step, "square")].in[0];
  const absl::StatusOr<Graph> features = ExtractGraph(step, step.inputs, {hidden});
  ASSERT_TRUE(features.ok()) << features.status();
  EXPECT_EQ(CountOf(*features, "sgd_step"), 0);
  const NoGradScope no_grad;
  EXPECT_TRUE(RunOn(*features, x).Equals(Relu(first(x))));
  const absl::StatusOr<Graph> head = ExtractGraph(step, {hidden}, {scores});
  ASSERT_TRUE(head.ok()) << head.status();
  const Tensor h = Randn({5, 4});
  EXPECT_TRUE(RunOn(*head, h).Equals(second(h)));
  const absl::StatusOr<Graph> lacking = ExtractGraph(step, {}, {scores});
  ASSERT_FALSE(lacking.ok());
  EXPECT_NE(lacking.status().message().find("that is not listed"), absl::string_view::npos)
      << lacking.status();
}

TEST(EditTest, APartMayBeginAtAViewIntoTheMiddle) {
  const Tensor x = Randn({6, 2});
  const auto twice = [](const Tensor& rows) { return Exp(Transpose(rows, 0, 1)) * 2; };
  const Graph whole = GraphOf([&](const Tensor& in) { return twice(Slice(in, 0, 2, 5)); }, x);
  const ValueId view = whole.instrs[PositionOf(whole, "transpose")].in[0];
  ASSERT_NE(whole.value(view).offset, 0);
  absl::StatusOr<Graph> part = ExtractGraph(whole, {view}, whole.outputs);
  ASSERT_TRUE(part.ok()) << part.status();
  const Tensor rows = Randn({3, 2});
  EXPECT_TRUE(RunOn(*part, rows).Equals(twice(rows)));
  // The part may be the source for another graph, even if its input does not begin its buffer.
  const BufferId buffer = part->value(part->inputs[0]).buffer;
  for (Value& value : part->values) value.offset += value.buffer == buffer ? 64 : 0;
  part->buffer_of(part->inputs[0]).bytes += 64;
  ASSERT_TRUE(part->Verify().ok()) << part->Verify();
  Graph outer = GraphOf([](const Tensor& in) { return Tanh(in); }, Ones({2, 3}));
  ASSERT_TRUE(RewireInput(outer, 0, *part, 0).ok());
  EXPECT_TRUE(RunOn(outer, rows).Equals(Tanh(twice(rows))));
  // A view at another place of another graph is the input.
  const Graph source = GraphOf([](const Tensor& in) { return Slice(Relu(in), 0, 1, 4); }, x);
  const absl::Status rewired = RewireInput(*part, 0, source, 0);
  ASSERT_TRUE(rewired.ok()) << rewired;
  EXPECT_TRUE(RunOn(*part, x).Equals(twice(Slice(Relu(x), 0, 1, 4))));
}

TEST(EditTest, WhatChangesLaterIsNoResult) {
  Graph graph = GraphOf(
      [](const Tensor& x) {
        const Tensor h = x * 2;
        Accumulate(h, x);
        return Exp(h);
      },
      Ones({3}));
  const ValueId h = graph.instrs[PositionOf(graph, "mul")].out[0];
  EXPECT_EQ(AddOutput(graph, h).code(), absl::StatusCode::kInvalidArgument);
}

TEST(EditTest, AnInputAsOutputMustBeListed) {
  const Graph graph = GraphOf([](const Tensor& x) { return Exp(x); }, Ones({3}));
  const absl::Status status = ExtractGraph(graph, {}, {graph.inputs[0]}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  Graph broken = graph;
  broken.inputs.clear();
  EXPECT_FALSE(broken.Verify().ok());
}

// The call that makes a kept gradient may be replaced; the gradient stays kept.
TEST(EditTest, GradientsThatStayAreThoseOfTheReplacement) {
  Tensor w = Ones({3}).SetRequiresGrad();
  const auto step = [&w](const Tensor& x) {
    w.ZeroGrad();
    const Tensor loss = Sum(w * x);
    loss.Backward();
    return loss;
  };
  Graph graph = GraphOf(step, Ones({3}));
  ASSERT_EQ(graph.gradients.size(), 1u);
  size_t maker = graph.instrs.size();
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    if (graph.instrs[at].out[0] == graph.gradients[0].value) maker = at;
  }
  ASSERT_LT(maker, graph.instrs.size()) << graph.DebugString();
  ASSERT_EQ(graph.instrs[maker].op->name, "mul");
  const absl::Status status = ReplaceOperation(
      graph, maker, [](absl::Span<const Tensor> in) { return TensorList{in[0] * in[1] * 2}; });
  ASSERT_TRUE(status.ok()) << status;
  const Tensor x = Randn({3});
  RunOn(graph, x);
  ASSERT_TRUE(w.grad().defined());
  EXPECT_TRUE(w.grad().Equals(x * 2));
}

TEST(EditTest, OfTwoGradientsOfALeafTheLaterOneStays) {
  Tensor w = Ones({3}).SetRequiresGrad();
  const auto step = [&w](double factor) {
    return [&w, factor](const Tensor& x) {
      w.ZeroGrad();
      const Tensor y = w * x * factor;
      Sum(y).Backward();
      return y.Detach();
    };
  };
  const Graph source = GraphOf(step(2), Ones({3}));
  Graph graph = GraphOf(step(3), Ones({3}));
  const absl::Status status = RewireInput(graph, 0, source, 0);
  ASSERT_TRUE(status.ok()) << status;
  RunOn(graph, Full({3}, 5.0));
  EXPECT_TRUE(w.grad().Equals(Full({3}, 30.0)));  // 3 times the source's result, 10
}

}  // namespace
}  // namespace firn
