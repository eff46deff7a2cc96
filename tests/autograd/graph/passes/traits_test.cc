// Operations that the passes have never heard of are found by what they say of themselves. None of
// them takes its arguments in the places that Firn's own have.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "firn/autograd/graph/evaluation.h"
#include "firn/autograd/graph/passes/fold_batch_norm.h"
#include "firn/autograd/graph/passes/fuse_activation.h"
#include "firn/autograd/graph/passes/recompute.h"
#include "firn/autograd/graph/passes/remove_bias.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/infer.h"
#include "firn/tensor/problems/norm_options.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::CountOf;
using testing::Difference;
using testing::GraphBuilder;
using testing::OpsOf;
using testing::RunGraph;
using testing::RunPass;

constexpr ArgDecl PerChannel(std::string_view name) {
  return {.name = name, .dtypes = SetOf(DType::kF32), .min_rank = 1, .max_rank = 1};
}
constexpr ArgDecl Matrix(std::string_view name) {
  return {.name = name, .dtypes = SetOf(DType::kF32), .min_rank = 2, .max_rank = 2};
}

constexpr GraphTraits kCutTraits = {.activation = FusedActivation::kRelu};

FIRN_REGISTER_OP(traits_test_cut) {
  return {.doc = "max(x, 0).",
          .inputs = {Matrix("x")},
          .outputs = {{.name = "y"}},
          .infer = InferLikeInput,
          .kernels = {{.name = "loop",
                       .run =
                           [](KernelContext& k) {
                             for (int64_t i = 0; i < k.out_spec().num_elements(); ++i) {
                               k.out<float>()[i] = std::max(k.in<float>(0)[i], 0.0f);
                             }
                             return absl::OkStatus();
                           }}},
          .graph = &kCutTraits};
}

// --- weigh: bias, weight, x [n, c] -> x weight + bias --------------------------------------------

struct WeighIn {
  enum : int { kBias, kWeight, kX };
};

absl::Status InferWeigh(InferContext& c) {
  c.set_out_like(0, WeighIn::kX);
  return absl::OkStatus();
}

template <bool kCut>
absl::Status RunWeigh(KernelContext& k) {
  const int64_t channels = k.out_spec().shape[1];
  const float *bias = k.in<float>(WeighIn::kBias), *weight = k.in<float>(WeighIn::kWeight);
  for (int64_t i = 0; i < k.out_spec().num_elements(); ++i) {
    const int64_t c = i % channels;
    const float y = k.in<float>(WeighIn::kX)[i] * weight[c] + (bias != nullptr ? bias[c] : 0);
    k.out<float>()[i] = kCut ? std::max(y, 0.0f) : y;
  }
  return absl::OkStatus();
}

OpDef Weigh(absl::Status (*run)(KernelContext&), const GraphTraits* traits) {
  ArgDecl bias = PerChannel("bias");
  bias.optional = true;
  return {.doc = "x weight + bias.",
          .inputs = {bias, PerChannel("weight"), Matrix("x")},
          .outputs = {{.name = "y"}},
          .infer = InferWeigh,
          .kernels = {{.name = "loop", .run = run}},
          .graph = traits};
}

FIRN_REGISTER_OP(traits_test_weigh_cut) { return Weigh(RunWeigh<true>, nullptr); }

constexpr GraphTraits kWeighTraits = {
    .with_activation = [](AttrsRef, const TensorSpec&,
                          FusedActivation activation) -> std::optional<OpCall> {
      if (activation != FusedActivation::kRelu) return {};
      return OpCall{&TheOp<"traits_test_weigh_cut">(), {}};
    },
    .channel_map =
        ChannelMap{
            .x = WeighIn::kX, .weight = WeighIn::kWeight, .bias = WeighIn::kBias, .channels = -1},
};

FIRN_REGISTER_OP(traits_test_weigh) { return Weigh(RunWeigh<false>, &kWeighTraits); }

// --- centre: running, x [n, c] -> x - mean, -mean [c], mean [c] ----------------------------------

struct CentreIn {
  enum : int { kRunning, kX };
};
struct CentreOut {
  enum : int { kY, kMinusMean, kMean };
};

absl::Status InferCentre(InferContext& c) {
  c.set_out_like(CentreOut::kY, CentreIn::kX);
  for (int i : {CentreOut::kMinusMean, CentreOut::kMean}) {
    c.set_out(i, DType::kF32, Shape({c.shape(CentreIn::kX)[1]}));
  }
  return absl::OkStatus();
}

absl::Status RunCentre(KernelContext& k) {
  const Shape& x = k.in_spec(CentreIn::kX).shape;
  const float* from = k.in<float>(CentreIn::kX);
  float *running = k.inout<float>(CentreIn::kRunning), *mean = k.out<float>(CentreOut::kMean);
  for (int64_t c = 0; c < x[1]; ++c) {
    mean[c] = 0;
    for (int64_t n = 0; n < x[0]; ++n) {
      mean[c] += from[n * x[1] + c] / static_cast<float>(x[0]);
    }
    k.out<float>(CentreOut::kMinusMean)[c] = -mean[c];
    for (int64_t n = 0; n < x[0]; ++n) {
      k.out<float>(CentreOut::kY)[n * x[1] + c] = from[n * x[1] + c] - mean[c];
    }
    if (running != nullptr) running[c] += 0.5f * (mean[c] - running[c]);
  }
  return absl::OkStatus();
}

constexpr GraphTraits kCentreTraits = {
    .centring = Centring{.x = CentreIn::kX,
                         .mean = CentreOut::kMean,
                         .running_mean = CentreIn::kRunning,
                         .momentum = [](AttrsRef) { return 0.5; }},
    .cheap_again = true,
    .evaluate = [](absl::Span<const Tensor> in, AttrsRef) -> absl::StatusOr<TensorList> {
      if (!in[CentreIn::kRunning].defined()) return FailedPrecondition("has no mean");
      return TensorList{in[CentreIn::kX] - in[CentreIn::kRunning]};
    },
};

FIRN_REGISTER_OP(traits_test_centre) {
  ArgDecl running = PerChannel("running");
  running.optional = running.inout = true;
  return {.doc = "x without its mean over each channel.",
          .inputs = {running, Matrix("x")},
          .outputs = {{.name = "y"}, {.name = "minus_mean"}, {.name = "mean"}},
          .infer = InferCentre,
          .kernels = {{.name = "loop", .run = RunCentre}},
          .graph = &kCentreTraits};
}

// --- Its gradient: mean, x, dy -> other, dx; and a sum over channels -----------------------------

struct CentreGradIn {
  enum : int { kMean, kX, kDy };
};
struct CentreGradOut {
  enum : int { kOther, kDx };
};

absl::Status InferCentreGrad(InferContext& c) {
  c.set_out_like(CentreGradOut::kOther, CentreGradIn::kMean);
  c.set_out_like(CentreGradOut::kDx, CentreGradIn::kX);
  return absl::OkStatus();
}

constexpr GraphTraits kCentreGradTraits = {
    .centring_gradient = CentringGradient{
        .x = CentreGradIn::kX, .mean = CentreGradIn::kMean, .dx = CentreGradOut::kDx}};

// The values of its elements do not matter: the test looks at what the passes make of their sum.
FIRN_REGISTER_OP(traits_test_centre_grad) {
  return {.doc = "Ones.",
          .inputs = {PerChannel("mean"), Matrix("x"), Matrix("dy")},
          .outputs = {{.name = "other"}, {.name = "dx"}},
          .infer = InferCentreGrad,
          .kernels = {{.name = "loop",
                       .run =
                           [](KernelContext& k) {
                             for (int i : {CentreGradOut::kOther, CentreGradOut::kDx}) {
                               std::fill_n(k.out<float>(i), k.out_spec(i).num_elements(), 1.0f);
                             }
                             return absl::OkStatus();
                           }}},
          .graph = &kCentreGradTraits};
}

constexpr GraphTraits kTotalTraits = {
    .sums_channels = [](AttrsRef, const Shape& x) { return x.rank() == 2; }};

FIRN_REGISTER_OP(traits_test_total) {
  return {.doc = "The sum of the rows.",
          .inputs = {Matrix("x")},
          .outputs = {{.name = "sum"}},
          .infer =
              [](InferContext& c) {
                c.set_out(0, c.dtype(0), Shape({c.shape(0)[1]}));
                return absl::OkStatus();
              },
          .kernels = {{.name = "loop",
                       .run =
                           [](KernelContext& k) {
                             const Shape& x = k.in_spec(0).shape;
                             std::fill_n(k.out<float>(), x[1], 0.0f);
                             for (int64_t i = 0; i < x.num_elements(); ++i) {
                               k.out<float>()[i % x[1]] += k.in<float>(0)[i];
                             }
                             return absl::OkStatus();
                           }}},
          .graph = &kTotalTraits};
}

// --- The passes ----------------------------------------------------------------------------------

TEST(TraitsTest, AnActivationMovesIntoABatchNorm) {
  GraphBuilder b;
  const ValueId y =
      b.Call("batch_norm_train", {b.Input({8, 4}), kNoValue, kNoValue, kNoValue, kNoValue},
             BatchNormAttrs{});
  Graph graph = b.Build({b.Call("traits_test_cut", {y})});
  const Tensor x = Randn({8, 4});
  const Tensor want = RunGraph(graph, {&x, 1})[0];
  EXPECT_EQ(RunPass(FuseActivation, graph).changes, 1);
  EXPECT_EQ(OpsOf(graph), "batch_norm_act_train");
  EXPECT_TRUE(RunGraph(graph, {&x, 1})[0].Equals(want));
}

TEST(TraitsTest, AnOperationTakesTheActivationsThatItSays) {
  for (std::string_view activation : {"relu", "tanh"}) {
    GraphBuilder b;
    const ValueId weight = b.Constant(Randn({4}));
    const ValueId y = b.Call("traits_test_weigh", {kNoValue, weight, b.Input({8, 4})});
    Graph graph = b.Build({b.Call(activation, {y})});
    const Tensor x = Randn({8, 4});
    const Tensor want = RunGraph(graph, {&x, 1})[0];
    EXPECT_EQ(RunPass(FuseActivation, graph).changes, activation == "relu" ? 1 : 0);
    EXPECT_EQ(CountOf(graph, "traits_test_weigh_cut"), activation == "relu" ? 1 : 0);
    EXPECT_TRUE(RunGraph(graph, {&x, 1})[0].Equals(want));
  }
}

TEST(TraitsTest, AScaleAndShiftIsFoldedIntoWeightAndBias) {
  for (bool biased : {true, false}) {
    GraphBuilder b;
    const ValueId bias = biased ? b.Constant(Randn({4})) : kNoValue;
    const ValueId y = b.Call("traits_test_weigh", {bias, b.Constant(Randn({4})), b.Input({8, 4})});
    Graph graph =
        b.Build({b.Call("channel_affine", {y, b.Constant(Randn({4})), b.Constant(Randn({4}))})});
    const Tensor x = Randn({8, 4});
    const Tensor want = RunGraph(graph, {&x, 1})[0];
    EXPECT_EQ(RunPass(FoldBatchNorm, graph).changes, 1);
    EXPECT_EQ(CountOf(graph, "channel_affine"), 0);
    EXPECT_LT(Difference(RunGraph(graph, {&x, 1})[0], want), 1e-5);
  }
}

TEST(TraitsTest, ABiasBeforeWhatCentresGoesIntoTheRunningMean) {
  const Tensor running = Zeros({4});
  GraphBuilder b;
  const ValueId bias = b.State(Full({4}, 8.0)), weight = b.State(Ones({4}));
  const ValueId y = b.Call("traits_test_weigh", {bias, weight, b.Input({8, 4})});
  Graph graph = b.Build({b.Call("traits_test_centre", {b.State(running), y})});
  EXPECT_EQ(RunPass(RemoveBiasBeforeBatchNorm, graph).changes, 1);
  EXPECT_EQ(graph.instrs[0].in[WeighIn::kBias], kNoValue);
  EXPECT_EQ(graph.instrs[0].in[WeighIn::kWeight], weight);
  const Tensor x = Zeros({8, 4});
  RunGraph(graph, {&x, 1});
  EXPECT_TRUE(running.Equals(Full({4}, 4.0)));
}

TEST(TraitsTest, TheSumOfAGradientThroughTheMeanIsZero) {
  GraphBuilder b;
  const ValueId x = b.Input({8, 4});
  b.Call("traits_test_centre", {kNoValue, x});
  const ValueId mean = b.result(CentreOut::kMean);
  b.Call("traits_test_centre_grad", {mean, x, x});
  Graph graph = b.Build({b.Call("traits_test_total", {b.result(CentreGradOut::kDx)})});
  const Tensor in = Randn({8, 4});
  EXPECT_TRUE(RunGraph(graph, {&in, 1})[0].Equals(Full({4}, 8.0)));
  EXPECT_EQ(RunPass(RemoveBiasBeforeBatchNorm, graph).changes, 1);
  EXPECT_TRUE(RunGraph(graph, {&in, 1})[0].Equals(Zeros({4})));
}

// The result of `centre` waits for the backward pass beside something large.
TEST(TraitsTest, WhatIsCheapComesAgainWithoutItsState) {
  const Tensor running = Zeros({64});
  GraphBuilder b;
  const ValueId x = b.Input({512, 64});
  const ValueId y = b.Call("traits_test_centre", {b.State(running), x});
  const ValueId before = b.Call("traits_test_total", {y});
  const ValueId large = b.Call("exp", {x});
  const ValueId peak = b.Call("traits_test_total", {b.Call("exp", {large})});
  b.phase = Phase::kBackward;
  Graph graph = b.Build({before, peak, b.Call("traits_test_total", {y})});
  EXPECT_EQ(RunPass(Recompute, graph).changes, 1);
  EXPECT_EQ(CountOf(graph, "traits_test_centre"), 2);
  const Tensor in = Full({512, 64}, 8.0);
  RunGraph(graph, {&in, 1});
  EXPECT_TRUE(running.Equals(Full({64}, 4.0)));  // moved once
}

TEST(TraitsTest, EvaluationIsWhatTheOperationSays) {
  for (bool with_mean : {true, false}) {
    GraphBuilder b;
    const ValueId running = with_mean ? b.State(Full({4}, 2.0)) : kNoValue;
    const Graph graph = b.Build({b.Call("traits_test_centre", {running, b.Input({8, 4})})});
    const absl::StatusOr<Graph> evaluated = ToEvaluation(graph);
    EXPECT_EQ(evaluated.ok(), with_mean);
    if (!with_mean) {
      EXPECT_EQ(evaluated.status().message(), "traits_test_centre has no mean");
      continue;
    }
    ASSERT_TRUE(evaluated.ok()) << evaluated.status();
    const Tensor x = Randn({8, 4});
    EXPECT_TRUE(RunGraph(*evaluated, {&x, 1})[0].Equals(x - 2));
  }
}

}  // namespace
}  // namespace firn
