// Batch norms with fixed statistics go into what they follow, and stay right when parameters
// change.

#include "firn/autograd/graph/passes/fold_batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "firn/autograd/graph/passes/fold_constants.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/problems/conv_problem.h"
#include "firn/tensor/rng.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::Difference;
using testing::GraphBuilder;
using testing::OpsOf;
using testing::RunGraph;
using testing::RunPass;
using testing::Sizes;

constexpr double kRounding = 2e-6;

// A batch norm whose parameters and statistics are not those it starts with.
template <class Norm>
void Shake(const Norm& norm) {
  const NoGradScope no_grad;
  const Shape shape = norm.running_mean().shape();
  Tensor(norm.running_mean()).CopyFrom(Randn(shape));
  Tensor(norm.running_var()).CopyFrom(Rand(shape) + 0.5);
  if (!norm.weight().defined()) return;
  Tensor(norm.weight()).CopyFrom(Randn(shape));
  Tensor(norm.bias()).CopyFrom(Randn(shape));
}

using Function = std::function<Tensor(const Tensor&)>;

Graph CaptureEval(const Function& net, const Tensor& x) {
  const NoGradScope no_grad;
  const Tensor in[] = {x};
  return Capture([&](absl::Span<const Tensor> given) { return TensorList{net(given[0])}; }, in)
      .graph;
}

// The folded graph has `norms` scales and shifts left, and computes what `net` does, now and after
// `change`.
void ExpectFolded(const Function& net, const Tensor& x, int64_t changes, int64_t norms,
                  const std::function<void()>& change) {
  Graph graph = CaptureEval(net, x);
  EXPECT_EQ(RunPass(FoldBatchNorm, graph).changes, changes) << graph.DebugString();
  EXPECT_EQ(CountOf(graph, "channel_affine"), norms) << graph.DebugString();
  const NoGradScope no_grad;
  for (int round = 0; round < 2; ++round) {
    const Tensor in[] = {Randn(x.shape())};
    EXPECT_LT(Difference(RunGraph(graph, in)[0], net(in[0])), kRounding) << round;
    change();
  }
}

TEST(FoldBatchNormTest, IntoConv2dAndStaysRightWhenParametersChange) {
  ManualSeed(1);
  nn::Conv2d conv({.in = 3, .out = 16, .kernel = 3, .padding = 1});
  nn::BatchNorm2d norm({.channels = 16});
  norm.Eval();
  Shake(norm);
  ExpectFolded([&](const Tensor& x) { return Relu(norm(conv(x))); }, Randn({4, 3, 8, 8}), 1, 0,
               [&] {
                 Shake(norm);
                 Tensor(conv.weight()).CopyFrom(Randn(conv.weight().shape()));
                 Tensor(conv.bias()).CopyFrom(Randn(conv.bias().shape()));
               });
}

// A half type's convolution takes no f32 weights, which a batch norm with f32 numbers would make.
TEST(FoldBatchNormTest, F32NumbersIntoAConvolutionOfAHalfType) {
  ManualSeed(1);
  nn::Conv2d conv({.in = 3, .out = 16, .kernel = 3});
  nn::BatchNorm2d norm({.channels = 16});
  conv.To(DType::kBF16);
  norm.Eval();
  Shake(norm);
  const Tensor x = Randn({4, 3, 8, 8}).To(DType::kBF16);
  Graph graph = CaptureEval([&](const Tensor& t) { return norm(conv(t)); }, x);
  EXPECT_EQ(RunPass(FoldBatchNorm, graph).changes, 1) << graph.DebugString();
  EXPECT_EQ(CountOf(graph, "channel_affine"), 0) << graph.DebugString();
  const NoGradScope no_grad;
  const Tensor in[] = {x}, got = RunGraph(graph, in)[0], want = norm(conv(x));
  EXPECT_EQ(got.dtype(), DType::kBF16);
  EXPECT_LT(Difference(got, want), 4 * std::ldexp(1.0, -8));
}

// One scale and shift into another: both take f32 numbers beside half images, and keep them.
TEST(FoldBatchNormTest, F32NumbersStayF32WhereTheyMay) {
  nn::BatchNorm2d first({.channels = 3}), second({.channels = 3});
  first.Eval();
  second.Eval();
  Shake(first);
  Shake(second);
  const Tensor x = Randn({4, 3, 8, 8}).To(DType::kF16);
  Graph graph = CaptureEval([&](const Tensor& t) { return second(first(t)); }, x);
  EXPECT_EQ(RunPass(FoldBatchNorm, graph).changes, 1) << graph.DebugString();
  EXPECT_EQ(CountOf(graph, "channel_affine"), 1) << graph.DebugString();
  EXPECT_EQ(CountOf(graph, "cast"), 0) << graph.DebugString();
  const NoGradScope no_grad;
  const Tensor in[] = {x}, got = RunGraph(graph, in)[0], want = second(first(x));
  EXPECT_LT(Difference(got, want), 2 * std::ldexp(1.0, -11));
}

TEST(FoldBatchNormTest, WithoutBiasAndWithoutAffineMap) {
  ManualSeed(2);
  nn::Conv2d conv({.in = 4, .out = 8, .kernel = 3, .groups = 2, .bias = false});
  nn::BatchNorm2d norm({.channels = 8, .affine = false});
  norm.Eval();
  Shake(norm);
  ExpectFolded([&](const Tensor& x) { return norm(conv(x)); }, Randn({4, 4, 8, 8}), 1, 0,
               [&] { Shake(norm); });
}

TEST(FoldBatchNormTest, IntoConvolutionsOfSequencesAndVolumes) {
  ManualSeed(3);
  nn::Conv1d line({.in = 3, .out = 16, .kernel = 3});
  nn::Conv3d volume({.in = 3, .out = 16, .kernel = 2});
  nn::BatchNorm1d norm({.channels = 16});
  nn::BatchNorm3d norm3({.channels = 16});
  norm.Eval();
  norm3.Eval();
  Shake(norm);
  Shake(norm3);
  ExpectFolded([&](const Tensor& x) { return norm(line(x)); }, Randn({4, 3, 20}), 1, 0,
               [&] { Shake(norm); });
  ExpectFolded([&](const Tensor& x) { return norm3(volume(x)); }, Randn({2, 3, 4, 5, 4}), 1, 0,
               [&] { Shake(norm3); });
}

TEST(FoldBatchNormTest, IntoAConvolutionBehindViews) {
  ManualSeed(3);
  nn::Conv2d conv({.in = 3, .out = 16, .kernel = {1, 3}});
  nn::BatchNorm1d norm({.channels = 16});
  norm.Eval();
  Shake(norm);
  ExpectFolded([&](const Tensor& x) { return norm(Squeeze(conv(Unsqueeze(x, 2)), 2)); },
               Randn({4, 3, 20}), 1, 0, [&] { Shake(norm); });
}

TEST(FoldBatchNormTest, IntoLinear) {
  ManualSeed(4);
  nn::Linear linear({.in = 5, .out = 6});
  nn::BatchNorm1d norm({.channels = 6});
  norm.Eval();
  Shake(norm);
  ExpectFolded([&](const Tensor& x) { return norm(linear(x)); }, Randn({40, 5}), 1, 0,
               [&] { Shake(norm); });
}

TEST(FoldBatchNormTest, IntoTheBiasOfATransposedConvolution) {
  ManualSeed(5);
  nn::ConvTranspose2d conv({.in = 3, .out = 8, .kernel = 2, .stride = 2});
  nn::BatchNorm2d norm({.channels = 8});
  norm.Eval();
  Shake(norm);
  ExpectFolded([&](const Tensor& x) { return norm(conv(x)); }, Randn({4, 3, 5, 5}), 1, 1,
               [&] { Shake(norm); });
}

TEST(FoldBatchNormTest, OneAfterTheOther) {
  ManualSeed(6);
  nn::Conv2d conv({.in = 3, .out = 8, .kernel = 1}), next({.in = 8, .out = 8, .kernel = 1});
  nn::BatchNorm2d norm({.channels = 8}), twice({.channels = 8}), last({.channels = 8});
  for (nn::BatchNorm2d* n : {&norm, &twice, &last}) {
    n->Eval();
    Shake(*n);
  }
  ExpectFolded([&](const Tensor& x) { return last(next(twice(norm(conv(x))))); },
               Randn({4, 3, 8, 8}), 3, 0, [&] { Shake(twice); });
}

TEST(FoldBatchNormTest, NotIfSomebodyElseReadsTheConvolution) {
  ManualSeed(7);
  nn::Conv2d conv({.in = 3, .out = 8, .kernel = 1});
  nn::BatchNorm2d norm({.channels = 8});
  norm.Eval();
  const auto net = [&](const Tensor& x) {
    const Tensor y = conv(x);
    return norm(y) + y;
  };
  ExpectFolded(net, Randn({2, 3, 8, 8}), 0, 1, [] {});
}

TEST(FoldBatchNormTest, NotIfTheConvolutionIsAResult) {
  GraphBuilder b;
  const ValueId x = b.Input({2, 3, 4, 4});
  const ValueId y = b.Call("conv2d", {x, b.State(Randn({4, 3, 1, 1})), kNoValue}, ConvAttrs{});
  const ValueId z = b.Call("channel_affine", {y, b.State(Randn({4})), kNoValue});
  Graph graph = b.Build({z, y});
  EXPECT_EQ(RunPass(FoldBatchNorm, graph).changes, 0);
}

TEST(FoldBatchNormTest, NotIfTheWeightChangesInBetween) {
  GraphBuilder b;
  const ValueId x = b.Input({2, 3, 4, 4});
  const ValueId weight = b.State(Randn({4, 3, 1, 1}));
  const ValueId y = b.Call("conv2d", {x, weight, kNoValue}, ConvAttrs{});
  b.Call("accumulate", {weight, b.Constant(Randn({4, 3, 1, 1}))});
  Graph graph = b.Build({b.Call("channel_affine", {y, b.State(Randn({4})), kNoValue})});
  EXPECT_EQ(RunPass(FoldBatchNorm, graph).changes, 0);
}

TEST(FoldBatchNormTest, NotBehindViewsWithOtherChannels) {
  GraphBuilder b;
  const ValueId x = b.Input({2, 3, 3, 3});
  const ValueId y = b.Call("conv2d", {x, b.State(Randn({4, 3, 1, 1})), kNoValue}, ConvAttrs{});
  const ValueId view = b.Call("reshape", {y}, ShapeAttrs{Sizes({1, 4, 18})});
  Graph graph = b.Build({b.Call("channel_affine", {view, b.State(Randn({4})), kNoValue})});
  EXPECT_EQ(RunPass(FoldBatchNorm, graph).changes, 0);
}

TEST(FoldBatchNormTest, ScalesAndShiftsAlone) {
  for (const bool scaled : {false, true}) {
    GraphBuilder b;
    const Tensor w = Randn({4, 3, 1, 1}), s = Randn({4});
    const ValueId x = b.Input({2, 3, 4, 4});
    const ValueId y = b.Call("conv2d", {x, b.State(w), kNoValue}, ConvAttrs{});
    const ValueId scale = scaled ? b.State(s) : kNoValue, shift = scaled ? kNoValue : b.State(s);
    Graph graph = b.Build({b.Call("channel_affine", {y, scale, shift})});
    EXPECT_EQ(RunPass(FoldBatchNorm, graph).changes, 1);
    EXPECT_EQ(OpsOf(graph), scaled ? "reshape mul conv2d" : "conv2d");
    const Tensor in[] = {Randn({2, 3, 4, 4})};
    const Tensor want = scaled ? ChannelAffine(Conv2d(in[0], w), s, {}) : Conv2d(in[0], w, s);
    EXPECT_LT(Difference(RunGraph(graph, in)[0], want), kRounding);
  }
}

TEST(FoldBatchNormTest, LargeWeightsAreScaledOnlyOnce) {
  for (const bool constant : {false, true}) {
    GraphBuilder b;
    const Tensor w = Randn({32, 32, 3, 3}), s = Randn({32});
    const ValueId x = b.Input({1, 32, 4, 4});
    const ValueId weight = constant ? b.Constant(w) : b.State(w);
    const ValueId y = b.Call("conv2d", {x, weight, kNoValue}, ConvAttrs{});
    Graph graph = b.Build({b.Call("channel_affine", {y, b.Constant(s), kNoValue})});
    EXPECT_EQ(RunPass(FoldBatchNorm, graph).changes, constant ? 1 : 0);
    RunPass(FoldConstants, graph);
    EXPECT_EQ(OpsOf(graph), constant ? "conv2d" : "conv2d channel_affine");
    const Tensor in[] = {Randn({1, 32, 4, 4})};
    const Tensor want = ChannelAffine(Conv2d(in[0], w), s, {});
    EXPECT_LT(Difference(RunGraph(graph, in)[0], want), 2e-5);  // Winograd
  }
}

}  // namespace
}  // namespace firn
