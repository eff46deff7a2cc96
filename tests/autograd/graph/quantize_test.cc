// Conversion to integers. Where weights and inputs are whole numbers of the range that a scale of 1
// quantizes, nothing is rounded and the results are those of the graph in floating point.

#include "firn/autograd/graph/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/nn/quantized/qat.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::RunGraph;

// Whole numbers; with 0 and 255 among them, quantized to u8 by a scale of 1.
Tensor Whole(const Shape& shape, int64_t low, int64_t high, uint64_t seed) {
  RandomGenerator generator(seed);
  return Cast(Randint(low, high, shape, DType::kI64, {.generator = &generator}), DType::kF32);
}
Tensor Pixels(const Shape& shape, uint64_t seed) {
  const Tensor x = Whole(shape, 0, 256, seed);
  Tensor flat = Flatten(x);
  Select(flat, 0, 0).Fill(0);
  Select(flat, 0, 1).Fill(255);
  return Reshape(flat, shape);
}
// Each channel has a 127, so that its scale is 1.
void SetWhole(const nn::Module& layer, uint64_t seed) {
  const NoGradScope no_grad;
  Tensor weight = layer.parameters()[0], bias = layer.parameters()[1];
  Tensor rows = Reshape(Whole(weight.shape(), -127, 128, seed), {weight.size(0), -1});
  Select(rows, 1, 0).Fill(127);
  weight.CopyFrom(Reshape(rows, weight.shape()));
  bias.CopyFrom(Whole(bias.shape(), -50, 50, seed + 1));
}

template <class F>
Graph Captured(F f, const Tensor& x) {
  const NoGradScope no_grad;
  return Capture([&](absl::Span<const Tensor> in) { return TensorList{f(in[0])}; }, {&x, 1}).graph;
}

std::string MessageOf(const absl::StatusOr<Graph>& graph) {
  return std::string(graph.status().message());
}
void ExpectMessage(const absl::StatusOr<Graph>& graph, const char* part) {
  EXPECT_NE(MessageOf(graph).find(part), std::string::npos) << graph.status();
}

TEST(QuantizeTest, LinearIsComputedInIntegers) {
  for (const bool bias : {true, false}) {
    nn::Linear layer({.in = 40, .out = 9, .bias = true});
    SetWhole(layer, 1);
    const Tensor none, x = Pixels({2, 3, 40}, 3);
    const auto fn = [&](const Tensor& t) {
      return Linear(t, layer.weight(), bias ? layer.bias() : none);
    };
    const absl::StatusOr<Graph> graph = Quantize(Captured(fn, x), {{x}});
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(CountOf(*graph, "linear"), 0) << graph->DebugString();
    EXPECT_EQ(CountOf(*graph, "int_matmul"), 1);
    EXPECT_EQ(CountOf(*graph, "quantize_linear"), 1);  // the weights are constants
    const NoGradScope no_grad;
    EXPECT_TRUE(RunGraph(*graph, {&x, 1})[0].Equals(fn(x)));
  }
}

TEST(QuantizeTest, ConvolutionsOfBothDTypesAndALayoutInBlocks) {
  nn::Conv2d conv({.in = 16, .out = 32, .kernel = 3, .stride = 2, .padding = 1, .groups = 2});
  SetWhole(conv, 1);
  // relu leaves whole numbers, and on the CPU the layout in blocks that kernels like.
  const Tensor x = Pixels({2, 16, 9, 7}, 3);
  const auto fn = [&](const Tensor& t) { return conv(Relu(t)); };
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    const absl::StatusOr<Graph> graph = Quantize(Captured(fn, x), {{x}}, {.dtype = dtype});
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(CountOf(*graph, "conv2d"), 0) << graph->DebugString();
    EXPECT_EQ(CountOf(*graph, "int_conv2d"), 1);
    const NoGradScope no_grad;
    EXPECT_TRUE(RunGraph(*graph, {&x, 1})[0].Equals(fn(x)));
  }
}

struct Net : nn::Module {
  nn::Conv2d& conv1 = Add<nn::Conv2d>("conv1", {.in = 3, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn1 =
      Add<nn::BatchNorm2d>("bn1", {.channels = 16, .activation = FusedActivation::kRelu});
  nn::Conv2d& conv2 = Add<nn::Conv2d>("conv2", {.in = 16, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn2 = Add<nn::BatchNorm2d>("bn2", {.channels = 16});
  nn::Linear& fc = Add<nn::Linear>("fc", {.in = 16, .out = 5});
  Tensor Forward(const Tensor& x) {
    const Tensor h = bn1(conv1(x));
    return fc(Mean(Relu(bn2(conv2(h)) + h), {2, 3}));
  }
};

// The mean of squares of errors, relative to that of the numbers.
double RelativeError(const Tensor& got, const Tensor& want) {
  return (Sum(Square(got - want)) / Sum(Square(want))).Item<double>();
}

TEST(QuantizeTest, BatchNormsAreFoldedFirst) {
  Net net;
  net.Forward(Randn({8, 3, 8, 8}));  // moves the running statistics
  net.Eval();
  const Tensor x = Randn({4, 3, 8, 8});
  const Graph captured = Captured([&](const Tensor& t) { return net.Forward(t); }, x);
  const TensorList batches[] = {{x}, {Randn({4, 3, 8, 8})}};
  const NoGradScope no_grad;
  const Tensor want = net.Forward(x);
  for (const Calibration c : {Calibration::kMinMax, Calibration::kPercentile, Calibration::kMse}) {
    const absl::StatusOr<Graph> graph = Quantize(captured, batches, {.calibration = c});
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(CountOf(*graph, "channel_affine"), 0) << graph->DebugString();
    EXPECT_EQ(CountOf(*graph, "int_conv2d"), 2);
    EXPECT_EQ(CountOf(*graph, "int_matmul"), 1);
    // 8 bits are 6 dB each: 48 dB for each of three products, less what uniform numbers lose.
    EXPECT_LT(RelativeError(RunGraph(*graph, {&x, 1})[0], want), 1e-3);
    absl::StatusOr<StaticGraph> frozen = StaticGraph::Compile(*graph);
    ASSERT_TRUE(frozen.ok()) << frozen.status();
    EXPECT_TRUE((*frozen)(x).Equals(RunGraph(*graph, {&x, 1})[0]));
  }
  // Parameters that change later do not matter.
  const absl::StatusOr<Graph> graph = Quantize(captured, batches);
  const Tensor before = RunGraph(*graph, {&x, 1})[0];
  net.fc.parameters()[0].Fill(0);
  EXPECT_TRUE(RunGraph(*graph, {&x, 1})[0].Equals(before));
}

TEST(QuantizeTest, ModulesMayBeKept) {
  Net net;
  net.Eval();
  const Tensor x = Randn({4, 3, 8, 8});
  const Graph captured = Captured([&](const Tensor& t) { return net.Forward(t); }, x);
  const absl::StatusOr<Graph> graph = Quantize(captured, {{x}}, {.keep = {"net.conv1"}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(CountOf(*graph, "conv2d"), 1) << graph->DebugString();
  EXPECT_EQ(CountOf(*graph, "int_conv2d"), 1);
  ExpectMessage(Quantize(captured, {{x}}, {.keep = {"net"}}), "nothing to quantize");
}

// An input of two products is quantized once.
TEST(QuantizeTest, EqualQuantizationsAreOne) {
  nn::Linear a({.in = 8, .out = 3}), b({.in = 8, .out = 3});
  const Tensor x = Randn({4, 8});
  const absl::StatusOr<Graph> graph =
      Quantize(Captured([&](const Tensor& t) { return a(t) * b(t); }, x), {{x}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(CountOf(*graph, "quantize_linear"), 1) << graph->DebugString();
}

TEST(QuantizeTest, HalfTypesStayWhatTheyAre) {
  nn::Linear layer({.in = 8, .out = 3});
  layer.To(DType::kBF16);
  const Tensor x = Randn({4, 8}).To(DType::kBF16);
  const absl::StatusOr<Graph> graph =
      Quantize(Captured([&](const Tensor& t) { return layer(t); }, x), {{x}});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(CountOf(*graph, "int_matmul"), 1);
  EXPECT_EQ(RunGraph(*graph, {&x, 1})[0].dtype(), DType::kBF16);
}

struct QatNet : nn::Module {
  nn::quantized::QatConv2d& conv =
      Add<nn::quantized::QatConv2d>("conv", {.in = 3, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d& bn = Add<nn::BatchNorm2d>("bn", {.channels = 16});
  nn::quantized::QatLinear& fc = Add<nn::quantized::QatLinear>("fc", {.out = 5});
  Tensor Forward(const Tensor& x) { return fc(Flatten(Relu(bn(conv(x))), 1)); }
};

// The graph rounds with the ranges of training, so no batches are needed; other differences are
// f32's rounding.
TEST(QuantizeTest, TrainedScalesAreTaken) {
  QatNet net;
  for (int i = 0; i < 3; ++i) net.Forward(Randn({8, 3, 6, 6}));
  net.Eval();
  const Tensor x = Randn({4, 3, 6, 6});
  const absl::StatusOr<Graph> graph =
      Quantize(Captured([&](const Tensor& t) { return net.Forward(t); }, x), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(CountOf(*graph, "fake_quantize"), 0) << graph->DebugString();
  EXPECT_EQ(CountOf(*graph, "quantize_linear"), 2);
  EXPECT_EQ(CountOf(*graph, "int_conv2d"), 1);
  EXPECT_EQ(CountOf(*graph, "int_matmul"), 1);
  const NoGradScope no_grad;
  const Tensor want = net.Forward(x);
  // f32 may round a number at the middle of two levels to the other one: a step of few of them.
  EXPECT_LT(RelativeError(RunGraph(*graph, {&x, 1})[0], want), 1e-5);
}

// The FakeQuantize of a part that is no layer for training, and of half types, which compute in
// f32.
TEST(QuantizeTest, TrainedScalesAreTakenThroughViewsAndConversions) {
  const NoGradScope no_grad;
  nn::Linear layer({.in = 8, .out = 3});
  SetWhole(layer, 1);
  const Tensor scale = Full({}, 0.5), zero = Full({}, 100, DType::kI32);
  const auto fn = [&](const Tensor& t) {
    const Tensor rounded = FakeQuantize(t, scale, zero, 0, 255);
    const DType dtype = t.dtype();
    return Linear(Reshape(rounded, {-1, 8}), Cast(layer.weight(), dtype));
  };
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const Tensor x = Cast(Mul(Whole({3, 2, 4}, -120, 180, 2), 0.5), dtype);
    const absl::StatusOr<Graph> graph = Quantize(Captured(fn, x), {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(CountOf(*graph, "int_matmul"), 1);
    EXPECT_TRUE(RunGraph(*graph, {&x, 1})[0].Equals(fn(x)));
  }
}

// A product reads the value of its time, which is neither the one rounded before nor the one at the
// end.
TEST(QuantizeTest, WhatChangesInPlaceIsWatchedWhereItIsRead) {
  nn::Linear layer({.in = 8, .out = 3});
  SetWhole(layer, 1);
  const Tensor x = Pixels({4, 8}, 3), one = Full({}, 1.0), zero = Zeros({}, DType::kI32);
  const auto rounded = [&](const Tensor& t) {
    Tensor h = FakeQuantize(Mul(t, 1.0 / 255), one, zero, 0, 255);
    h.CopyFrom(t);
    return layer(h);
  };
  const auto twice = [&](const Tensor& t) {
    Tensor h = Zeros({5, 8});
    Slice(h, 0, 0, 4).CopyFrom(t);
    const Tensor y = layer(h);
    h.CopyFrom(Mul(h, 100.0));
    const Tensor z = layer(h);
    h.Fill(-1e6);
    return Add(y, Mul(z, 1e6));
  };
  const auto check = [&](const auto& fn) {
    const absl::StatusOr<Graph> graph = Quantize(Captured(fn, x), {{x}});
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(CountOf(*graph, "linear"), 0) << graph->DebugString();
    const NoGradScope no_grad;
    EXPECT_TRUE(RunGraph(*graph, {&x, 1})[0].Equals(fn(x)));
  };
  check(rounded);
  check(twice);
}

TEST(QuantizeTest, TakesWhatFreezeGives) {
  nn::Linear layer({.in = 8, .out = 3});
  SetWhole(layer, 1);
  layer.Eval();
  const Tensor x = Pixels({4, 8}, 2);
  const NoGradScope no_grad;
  const StaticGraph frozen = Freeze([&](const Tensor& t) { return layer(t); }, x);
  StaticGraph small = Quantize(frozen, {x});
  EXPECT_EQ(CountOf(small.captured(), "linear"), 0);
  EXPECT_TRUE(small(x).Equals(layer(x)));
  EXPECT_THROW(Quantize(frozen, {Randn({3, 8})}), Error);
}

TEST(QuantizeTest, Errors) {
  nn::Linear layer({.in = 8, .out = 3});
  const Tensor x = Randn({4, 8});
  const Graph captured = Captured([&](const Tensor& t) { return layer(t); }, x);
  ExpectMessage(Quantize(Captured([](const Tensor& t) { return Relu(t); }, x), {{x}}),
                "nothing to quantize");
  ExpectMessage(Quantize(captured, {}), "linear read no number in the batches");
  ExpectMessage(Quantize(captured, {{Full({4, 8}, NAN)}}), "read no number in the batches");
  ExpectMessage(Quantize(captured, {{Randn({3, 8})}}), "[3, 8]");
  ExpectMessage(Quantize(captured, {{x}}, {.dtype = DType::kI32}), "dtype must be u8 or i8");
  ExpectMessage(Quantize(captured, {{x}}, {.percentile = 0}), "percentile must lie in (0, 100]");
  const NoGradScope no_grad;
  layer.parameters()[0].Fill(INFINITY);
  ExpectMessage(Quantize(captured, {{x}}), "linear has weights of inf");
}

}  // namespace
}  // namespace firn
