// Ranges are recorded from the batches, rounded values lie on their levels, gradients pass, and the
// graph becomes an integer graph that computes the same.

#include "firn/autograd/graph/qat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/call.h"
#include "firn/autograd/graph/evaluation.h"
#include "firn/autograd/graph/qat_scheduler.h"
#include "firn/autograd/graph/quantize.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/optim/sgd.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "tests/autograd/graph/passes/graph_builder.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::Difference;
using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::RunGraph;

struct Net : nn::Module {
  nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.in = 2, .out = 8, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn = Add<nn::BatchNorm2d>("bn", {.channels = 8});
  nn::Conv2d& conv2 = Add<nn::Conv2d>("conv2", {.in = 8, .out = 8, .kernel = 3, .padding = 1});
  nn::Linear& fc = Add<nn::Linear>("fc", {.in = 8, .out = 3});
  Tensor Forward(const Tensor& x) { return fc(Mean(Relu(conv2(Relu(bn(conv1(x))))), {2, 3})); }
};

template <class F>
Graph Captured(F f, const Tensor& x) {
  const NoGradScope no_grad;
  return Capture([&](absl::Span<const Tensor> in) { return TensorList{f(in[0])}; }, {&x, 1}).graph;
}
Graph GraphOf(Net& net, const Tensor& x) {
  return Captured([&](const Tensor& t) { return net.Forward(t); }, x);
}

Tensor Row(std::vector<float> v) {
  const auto n = static_cast<int64_t>(v.size());
  return FromVector(std::move(v), {1, n});
}

TEST(CallGraphTest, ComputesRecordsAndMovesStatesAsTheCode) {
  Net net, same;
  same.LoadStateDict(net.state_dict());
  const Tensor x = Randn({4, 2, 5, 5});
  const Graph graph = GraphOf(net, x);
  net.LoadStateDict(same.state_dict());  // the capture moved the statistics
  const Tensor got = CallGraph(graph, {&x, 1})[0], want = same.Forward(x);
  EXPECT_TRUE(got.Equals(want));
  Sum(Square(got)).Backward();
  Sum(Square(want)).Backward();
  const std::vector<Tensor> mine = net.parameters(), theirs = same.parameters();
  for (size_t i = 0; i < mine.size(); ++i) {
    EXPECT_TRUE(mine[i].grad().Equals(theirs[i].grad())) << i;
  }
  for (const auto& [name, tensor] : net.state_dict()) {
    EXPECT_TRUE(tensor.Equals(same.state_dict()[name])) << name;
  }
}

TEST(CallGraphTest, IsCapturedAndFrozenAsTheCode) {
  nn::Linear layer({.in = 3, .out = 2});
  const Tensor x = Randn({4, 3});
  const Graph graph = Captured([&](const Tensor& t) { return layer(t); }, x);
  optim::Sgd sgd(layer.parameters(), {.lr = 0.01});
  StaticGraph step = Freeze(
      [&](const Tensor& t) {
        sgd.ZeroGrad();
        Tensor loss = Sum(Square(CallGraph(graph, {&t, 1})[0]));
        loss.Backward();
        sgd.Step();
        return loss;
      },
      x);
  const double first = step(x).Item<double>();
  for (int i = 0; i < 10; ++i) step(x);
  EXPECT_LT(step(x).Item<double>(), first);
}

TEST(CallGraphTest, RefusesWhatDoesNotFit) {
  nn::Dropout drop({.p = 0.5});
  const Tensor x = Ones({2, 3}), other = Ones({3, 3});
  const Graph graph = Captured([&](const Tensor& t) { return drop(t); }, x);
  EXPECT_THAT(ErrorOf([&] { CallGraph(graph, {}); }), HasSubstr("expected 1 inputs, got 0"));
  EXPECT_THAT(ErrorOf([&] {
                CallGraph(graph, {&other, 1});
              }),
              HasSubstr("expected input 0 to be f32 [2, 3]"));
  drop.Eval();
  EXPECT_THAT(ErrorOf([&] { CallGraph(graph, {&x, 1}); }), HasSubstr("training()"));
  const auto step = [&](absl::Span<const Tensor> in) {
    Tensor leaf = in[0].Detach().SetRequiresGrad();
    Sum(leaf).Backward();
    return TensorList{leaf.grad()};
  };
  const Graph backward = Capture(step, {&x, 1}).graph;
  EXPECT_THAT(ErrorOf([&] {
                CallGraph(backward, {&x, 1});
              }),
              HasSubstr("expected a graph without a backward pass"));
}

// Ranges recorded from the two batches [-1, 2] and [-4, 1], and from weights [3, -5], [0.5, 0.25].
struct Recorded {
  nn::Linear layer{{.in = 2, .out = 2, .bias = false}};
  StateDict ranges;

  explicit Recorded(const QatOptions& options) {
    {
      const NoGradScope no_grad;
      Tensor(layer.weight()).CopyFrom(FromVector<float>({3, -5, 0.5F, 0.25F}, {2, 2}));
    }
    const Tensor a = Row({-1, 2}), b = Row({-4, 1});
    Graph graph = Captured([&](const Tensor& t) { return layer(t); }, a);
    ranges = RecordRanges(graph, options);
    EXPECT_EQ(ranges["linear.input.batches"].Item<int64_t>(), 0);
    EXPECT_TRUE(CallGraph(graph, {&a, 1})[0].Equals(layer(a)));
    RunGraph(graph, {&b, 1});
  }
  std::vector<float> Ends(const std::string& of) const {
    std::vector<float> ends = ranges["linear." + of + ".low"].ToVector<float>();
    for (const float v : ranges["linear." + of + ".high"].ToVector<float>()) ends.push_back(v);
    return ends;
  }
};

TEST(RecordRangesTest, EachRecorder) {
  const auto of_inputs = [](const RangeRecorder& r) {
    return Recorded({.inputs = r}).Ends("input");
  };
  EXPECT_THAT(of_inputs({Extremes::kMinMax}), ElementsAre(-4, 2));
  EXPECT_THAT(of_inputs({Extremes::kMagnitude}), ElementsAre(-4, 4));
  EXPECT_THAT(of_inputs({Extremes::kMax}), ElementsAre(0, 2));
  EXPECT_THAT(of_inputs({Extremes::kMinMax, 0.75}), ElementsAre(-1.75F, 1.75F));
  EXPECT_THAT(of_inputs({Extremes::kMax, 0.75}), ElementsAre(0, 1.75F));
  const Recorded channels{QatOptions{}}, one{QatOptions{.per_channel = false}};
  EXPECT_THAT(channels.Ends("weight"), ElementsAre(-5, -0.5F, 5, 0.5F));
  EXPECT_THAT(one.Ends("weight"), ElementsAre(-5, 5));
  EXPECT_EQ(one.ranges["linear.input.batches"].Item<int64_t>(), 2);
}

TEST(RecordRangesTest, WhichOperations) {
  Net net;
  const Tensor x = Randn({4, 2, 5, 5});
  const Graph graph = GraphOf(net, x);
  const auto names = [&](const QatOptions& options) {
    Graph copy = graph;
    std::string all;
    for (const auto& [name, range] : RecordRanges(copy, options)) {
      if (name.ends_with(".low")) all += name.substr(0, name.size() - 4) + " ";
    }
    return all;
  };
  const std::string root(
      graph.instrs[0].module_path().substr(0, graph.instrs[0].module_path().find(".conv1")));
  const auto in = [&](const std::string& name) { return root + "." + name + " "; };
  const std::string conv1 = in("conv1.input") + in("conv1.weight"),
                    conv2 = in("conv2.input") + in("conv2.weight"),
                    fc = in("fc.input") + in("fc.weight");
  EXPECT_EQ(names({}), conv1 + conv2 + fc);
  EXPECT_EQ(names({.operations = {"linear"}}), fc);
  EXPECT_EQ(names({.operations = {"linear"}, .results = true}), fc + in("fc.output"));
  EXPECT_EQ(names({.skip_first = {"conv2d"}, .skip_last = {"linear"}}), conv2);
  EXPECT_EQ(names({.skip_first = {"linear"}}), conv1 + conv2);
  EXPECT_EQ(names({.keep = {root + ".conv2"}}), conv1 + fc);
  EXPECT_EQ(names({.operations = {"relu"}}), "relu.input relu.input2 ");
  Graph copy = graph;
  EXPECT_THAT(ErrorOf([&] { RecordRanges(copy, {.keep = {root}}); }),
              HasSubstr("expected an operation to quantize, got none"));
  EXPECT_THAT(ErrorOf([&] { RecordRanges(copy, {.bits = 9}); }), HasSubstr("bits must lie in [2"));
  EXPECT_THAT(ErrorOf([&] { RecordRanges(copy, {.inputs = {.decay = 1}}); }),
              HasSubstr("decay must lie in [0, 1), got 1"));
  EXPECT_EQ(copy.DebugString(), graph.DebugString());
}

TEST(RecordRangesTest, EvaluationLeavesRecordersOut) {
  Net net;
  const Tensor x = Randn({4, 2, 5, 5});
  const Graph graph = GraphOf(net, x);
  Graph recording = graph;
  RecordRanges(recording);
  EXPECT_EQ(CountOf(recording, "amax"), 6);
  EXPECT_EQ(ToEvaluation(recording)->instrs.size(), ToEvaluation(graph)->instrs.size());
}

// The grid of the input by which `options` round a range from -4 to 2.
std::pair<double, int64_t> Grid(const QatOptions& options) {
  Recorded r(options);
  const Tensor x = Row({0.3F, 7});
  Graph graph = Captured([&](const Tensor& t) { return r.layer(t); }, x);
  const StateDict grids = FakeQuantizeByRanges(graph, r.ranges, options);
  EXPECT_EQ(CountOf(graph, "fake_quantize"), 2);
  return {grids["linear.input.scale"].Item<double>(),
          grids["linear.input.zero_point"].Item<int64_t>()};
}

TEST(FakeQuantizeByRangesTest, ScalesAndZeroPoints) {
  const RangeRecorder all{};
  const auto near = [](double scale, int64_t zero) {
    return ::testing::Pair(::testing::FloatEq(static_cast<float>(scale)), zero);
  };
  const auto grid = [](const QatOptions& o) {
    const auto [scale, zero] = Grid(o);
    return std::pair(static_cast<float>(scale), zero);
  };
  EXPECT_THAT(grid({.inputs = all}), near(6.0 / 255, 170));
  EXPECT_THAT(grid({.inputs = all, .narrow_range = true}), near(6.0 / 254, 170));
  EXPECT_THAT(grid({.inputs = all, .bits = 4}), near(6.0 / 15, 10));
  EXPECT_THAT(grid({.inputs = all, .symmetric = true}), near(4.0 / 127, 0));
  using enum PowerOfTwoScale;  // 6 / 255 lies between 2^-6 and 2^-5
  EXPECT_THAT(grid({.inputs = all, .power_of_two = kUp}), near(1.0 / 32, 128));
  EXPECT_THAT(grid({.inputs = all, .power_of_two = kDown}), near(1.0 / 64, 255));
  EXPECT_THAT(grid({.inputs = all, .power_of_two = kNearest}), near(1.0 / 32, 128));
}

TEST(FakeQuantizeByRangesTest, RefusesRangesThatSayNothing) {
  const Recorded r{QatOptions{}};
  const Tensor x = Row({1, 2});
  Graph graph = Captured([&](const Tensor& t) { return Linear(t, r.layer.weight()); }, x);
  EXPECT_THAT(ErrorOf([&] { FakeQuantizeByRanges(graph, {}); }),
              HasSubstr("expected a range 'linear.input.low'"));
  StateDict ranges = r.ranges;
  ranges.Set("linear.input.batches", Zeros({}, DType::kI64));
  EXPECT_THAT(ErrorOf([&] { FakeQuantizeByRanges(graph, ranges); }),
              HasSubstr("the range 'linear.input' has seen no batch"));
  ranges = r.ranges;
  ranges.Set("linear.input.high", Full({}, std::numeric_limits<double>::infinity()));
  EXPECT_THAT(ErrorOf([&] { FakeQuantizeByRanges(graph, ranges); }),
              HasSubstr("expected the range 'linear.input' to be finite, got [-1.03, inf]"));
  ranges = r.ranges;
  ranges.Set("linear.weight.low", Zeros({3}));
  EXPECT_THAT(ErrorOf([&] { FakeQuantizeByRanges(graph, ranges); }),
              HasSubstr("expected 'linear.weight.low' to have 2 elements"));
}

TEST(QatSchedulerTest, RecordsTrainsAndBecomesIntegers) {
  Net net;
  const Tensor x = Randn({16, 2, 6, 6});
  const Tensor y = Randn({16, 3});
  QatScheduler qat(GraphOf(net, x), {.record_at = 1, .train_at = 4});
  optim::Sgd sgd(net.parameters(), {.lr = 0.05});
  std::vector<QatPhase> begins;
  double first = 0, last = 0;
  for (int i = 0; i < 30; ++i) {
    if (qat.Step()) begins.push_back(qat.phase());
    sgd.ZeroGrad();
    const Tensor loss = Mean(Square(qat(x) - y));
    loss.Backward();
    sgd.Step();
    (i == 4 ? first : last) = loss.Item<double>();
  }
  EXPECT_THAT(begins, ElementsAre(QatPhase::kRecording, QatPhase::kTraining));
  EXPECT_LT(last, first);
  EXPECT_EQ(CountOf(qat.graph(), "fake_quantize"), 6);
  for (const auto& [name, range] : qat.ranges()) {
    EXPECT_TRUE(!name.ends_with("batches") || range.Item<int64_t>() == 3) << name;
  }
  const absl::StatusOr<Graph> simulated = ToEvaluation(qat.graph());
  ASSERT_TRUE(simulated.ok()) << simulated.status();
  const absl::StatusOr<Graph> integers = Quantize(qat.graph(), {});  // all ranges are known
  ASSERT_TRUE(integers.ok()) << integers.status();
  EXPECT_EQ(CountOf(*integers, "int_conv2d"), 2) << integers->DebugString();
  EXPECT_EQ(CountOf(*integers, "int_matmul"), 1);
  EXPECT_EQ(CountOf(*integers, "fake_quantize"), 0);
  const NoGradScope no_grad;
  // Weights are rounded again, by the largest that they have now: half a step of 1 / 127 in each of
  // three products, and as much where a sum then becomes another level of the next one's input.
  EXPECT_LT(Difference(RunGraph(*integers, {&x, 1})[0], RunGraph(*simulated, {&x, 1})[0]),
            3 * 2 * 0.5 / 127);
  EXPECT_EQ(qat.grids().size(), 12U);
  EXPECT_TRUE(qat.Call({&x, 1})[0].Equals(qat(x)));
}

TEST(QatSchedulerTest, RefusesSchedulesThatCannotBe) {
  Net net;
  const Tensor x = Randn({2, 2, 5, 5});
  const Graph graph = GraphOf(net, x);
  EXPECT_THAT(ErrorOf([&] { QatScheduler(graph, {.record_at = 3, .train_at = 3}); }),
              HasSubstr("expected 0 <= record_at < train_at, got 3 and 3"));
  QatScheduler unused(graph, {});
  unused.Step();
  EXPECT_THAT(ErrorOf([&] { unused.Step(); }), HasSubstr("has seen no batch"));
}

}  // namespace
}  // namespace firn
