// batch_norm_train, its fused gradient, and BatchNorm, which picks between it and a per-channel
// affine map with fixed statistics.
//
// The fused gradient computes dx, dweight and dbias in one go. When the gradient is itself recorded
// (create_graph) the same formula is written out with operations instead:
//   dx = weight invstd (dz - mean(dz) - xhat mean(dz xhat))

#include "firn/tensor/ops/norm/batch_norm.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/batch_norm_kernels.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/conv/channels.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn {
namespace {

using In = BatchNormIn;
using Out = BatchNormOut;
using GradIn = BatchNormGradIn;
using GradOut = BatchNormGradOut;

absl::Status CheckChannels(const InferContext& c, int input, const char* name) {
  FIRN_RETURN_IF(c.has(input) && c.shape(input)[0] != c.shape(0)[1],
                 InvalidArgument(name, " ", c.shape(input).ToString(),
                                 " does not fit the channels of x ", c.shape(0).ToString()));
  return absl::OkStatus();
}

absl::Status CheckAttrs(const BatchNormAttrs& a) {
  FIRN_RETURN_IF(a.activation > FusedActivation::kTanh,
                 InvalidArgument("unknown activation ", static_cast<int>(a.activation)));
  return absl::OkStatus();
}

// The operation that keeps its result for the gradient of the activation, and the one that has
// none.

template <bool kWithActivation>
absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF(
      (c.attrs<BatchNormAttrs>().activation != FusedActivation::kNone) != kWithActivation,
      InvalidArgument("an activation is for batch_norm_act_train, none for batch_norm_train"));
  constexpr const char* kNames[] = {"x", "weight", "bias", "running_mean", "running_var"};
  for (int i = In::kWeight; i <= In::kRunningVar; ++i) {
    FIRN_RETURN_IF_ERROR(CheckChannels(c, i, kNames[i]));
  }
  FIRN_RETURN_IF_ERROR(CheckAttrs(c.attrs<BatchNormAttrs>()));
  const Shape& x = c.shape(In::kX);
  FIRN_RETURN_IF(
      x[1] != 0 && x.num_elements() / x[1] < 2,
      InvalidArgument("training wants more than one value per channel, x is ", x.ToString()));
  c.set_out_like(Out::kY, In::kX);
  const DType statistics = StatisticsType(c.dtype(In::kX));
  c.set_out(Out::kMean, statistics, Shape({x[1]}));
  c.set_out(Out::kInvstd, statistics, Shape({x[1]}));
  return absl::OkStatus();
}

// --- The fused gradient: dy, x, y, weight, mean, invstd -> dx, dweight, dbias --------------------

absl::Status InferGrad(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckAttrs(c.attrs<BatchNormAttrs>()));
  const Shape& dy = c.shape(GradIn::kDy);
  FIRN_RETURN_IF(c.shape(GradIn::kX) != dy || (c.has(GradIn::kY) && c.shape(GradIn::kY) != dy),
                 InvalidArgument("dy, x and y must have one shape"));
  FIRN_RETURN_IF(
      c.has(GradIn::kY) != (c.attrs<BatchNormAttrs>().activation != FusedActivation::kNone),
      InvalidArgument("y belongs to an activation"));
  constexpr const char* kNames[] = {"dy", "x", "y", "weight", "mean", "invstd"};
  for (int i = GradIn::kWeight; i <= GradIn::kInvstd; ++i) {
    FIRN_RETURN_IF_ERROR(CheckChannels(c, i, kNames[i]));
  }
  c.set_out_like(GradOut::kDx, GradIn::kDy);
  const DType dtype = c.dtype(c.has(GradIn::kWeight) ? GradIn::kWeight : GradIn::kMean);
  c.set_out(GradOut::kDweight, dtype, Shape({dy[1]}));
  c.set_out(GradOut::kDbias, dtype, Shape({dy[1]}));
  return absl::OkStatus();
}

// dz by operations.
Tensor ThroughActivation(const Tensor& dy, const Tensor& y, FusedActivation activation) {
  if (activation == FusedActivation::kRelu) return Where(Gt(y, 0), dy, 0);
  if (activation == FusedActivation::kTanh) return Mul(dy, Sub(1, Square(y)));
  return dy;
}

// The gradient of input i, in its dtype.
void SetGradient(GradContext& g, int i, const Tensor& grad) {
  if (g.needs(i)) g.set_grad_input(i, Cast(grad, g.input_spec(i).dtype));
}

// Computes in the statistics' type throughout, like the fused gradient. Deviations are taken in
// units of their own size, so that squares and higher derivatives stay in range for any x.
void RecordedGrad(GradContext& g, const BatchNormAttrs& a) {
  const DType dtype = StatisticsType(g.input(In::kX).dtype());
  const Tensor x = Cast(g.input(In::kX), dtype), &weight = g.input(In::kWeight);
  const auto count = static_cast<double>(x.num_elements() / x.size(1));
  const bool activated = a.activation != FusedActivation::kNone;
  const Tensor dy = Cast(g.grad_output(Out::kY), dtype);
  const Tensor dz =
      activated ? ThroughActivation(dy, Cast(g.output(Out::kY), dtype), a.activation) : dy;
  const auto mean = [&](const Tensor& t) { return Mul(ChannelSum(t), 1 / count); };
  DimList others;  // all dimensions but the channels'
  for (int i = 0; i < x.rank(); ++i) {
    if (i != 1) others.push_back(i);
  }
  const Tensor centred = ChannelAffine(x, {}, Neg(Mean(x, others)));
  const Tensor unit = Detach(g.output(Out::kInvstd));
  const Tensor deviation = ChannelAffine(centred, unit, {});
  const Tensor eps = Mul(Mul(unit, a.eps), unit);  // unit^2 alone may overflow
  const Tensor scaled = Rsqrt(Add(mean(Square(deviation)), eps));
  const Tensor xhat = ChannelAffine(deviation, scaled, {});
  SetGradient(g, In::kBias, ChannelSum(dz));
  SetGradient(g, In::kWeight, ChannelSum(Mul(dz, xhat)));
  if (!g.needs(In::kX)) return;
  // The incoming gradient is combined with the unit first, before it meets numbers that are as
  // large.
  const Tensor flow = ChannelAffine(dz, unit, Mul(mean(dz), Neg(unit)));
  const Tensor inner = Sub(flow, ChannelAffine(xhat, Mul(mean(Mul(dz, xhat)), unit), {}));
  SetGradient(g, In::kX, ChannelAffine(inner, weight.defined() ? Mul(weight, scaled) : scaled, {}));
}

void Grad(GradContext& g) {
  const BatchNormAttrs& a = g.attrs<BatchNormAttrs>();
  if (GradEnabled()) return RecordedGrad(g, a);
  const Tensor none;
  const Tensor& y = a.activation == FusedActivation::kNone ? none : g.output(Out::kY);
  TensorList d = Apply(TheOp<"batch_norm_grad">(),
                       {g.grad_output(Out::kY), g.input(In::kX), y, g.input(In::kWeight),
                        g.output(Out::kMean), g.output(Out::kInvstd)},
                       a);
  SetGradient(g, In::kX, d[GradOut::kDx]);
  SetGradient(g, In::kWeight, d[GradOut::kDweight]);
  SetGradient(g, In::kBias, d[GradOut::kDbias]);
}

ArgDecl PerChannel(std::string_view name, std::string_view like, bool inout = false) {
  return {.name = name,
          .same_dtype_as = like,
          .or_wide = true,
          .min_rank = 1,
          .max_rank = 1,
          .optional = true,
          .inout = inout};
}

ArgDecl OfStatistics(std::string_view name) {
  return {.name = name, .same_dtype_as = "dy", .wide = true, .min_rank = 1, .max_rank = 1};
}

// --- Traits for graphs
// ----------------------------------------------------------------------------

// In the half types y would no longer be rounded before the activation; for relu that makes no
// difference.
std::optional<OpCall> WithActivation(AttrsRef attrs, const TensorSpec& y, FusedActivation f) {
  const bool half = y.dtype != DType::kF32 && y.dtype != DType::kF64;
  if (half && f != FusedActivation::kRelu) return {};
  auto activated = attrs.get<BatchNormAttrs>();
  activated.activation = f;
  return OpCall{&TheOp<"batch_norm_act_train">(), Attrs(activated)};
}

absl::StatusOr<TensorList> Evaluate(absl::Span<const Tensor> in, AttrsRef attrs) {
  const Tensor &mean = in[In::kRunningMean], &var = in[In::kRunningVar];
  FIRN_RETURN_IF(!mean.defined() || !var.defined(),
                 FailedPrecondition("has no running statistics to evaluate with"));
  const auto& a = attrs.get<BatchNormAttrs>();
  return TensorList{BatchNorm(in[In::kX], mean, var, in[In::kWeight], in[In::kBias],
                              {.training = false, .eps = a.eps, .activation = a.activation})};
}

constexpr GraphTraits kTraits = {
    .with_activation = WithActivation,
    .centring =
        Centring{.x = In::kX,
                 .mean = Out::kMean,
                 .running_mean = In::kRunningMean,
                 .momentum = [](AttrsRef attrs) { return attrs.get<BatchNormAttrs>().momentum; }},
    .cheap_again = true,
    .evaluate = Evaluate,
};
// It already has an activation.
constexpr GraphTraits kActivatedTraits = {
    .centring = kTraits.centring, .cheap_again = true, .evaluate = Evaluate};

constexpr GraphTraits kGradTraits = {
    .centring_gradient =
        CentringGradient{.x = GradIn::kX, .mean = GradIn::kMean, .dx = GradOut::kDx},
};

OpDef TrainingOp(std::string_view doc, InferFn infer, const GraphTraits& traits) {
  return {
      .doc = doc,
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 2},
                 PerChannel("weight", "x"),
                 PerChannel("bias", "x"),
                 PerChannel("running_mean", "x", true),
                 PerChannel("running_var", "x", true)},
      .outputs = {{.name = "y"},
                  {.name = "mean", .constant = true},
                  {.name = "invstd", .constant = true}},
      .attrs = AttrsOf<BatchNormAttrs>(),
      .infer = infer,
      .grad = Grad,
      .saves = {Saved::Input(In::kX), Saved::Input(In::kWeight), Saved::Output(Out::kMean),
                Saved::Output(Out::kInvstd)},
      .kernels = {cpu::BatchNormKernel()},
      .graph = &traits,
  };
}

FIRN_REGISTER_OP(batch_norm_train) {
  return TrainingOp("Batch normalisation with the batch's statistics; moves the running ones.",
                    Infer<false>, kTraits);
}

FIRN_REGISTER_OP(batch_norm_act_train) {
  OpDef def =
      TrainingOp("batch_norm_train and an activation in one pass.", Infer<true>, kActivatedTraits);
  def.saves.push_back(Saved::Output(Out::kY));
  return def;
}

FIRN_REGISTER_OP(batch_norm_grad) {
  return {
      .doc =
          "All gradients of batch_norm_train in one pass. Not differentiable: recorded gradients "
          "are written out with other operations.",
      .inputs = {{.name = "dy", .dtypes = kFloating, .min_rank = 2},
                 {.name = "x", .same_dtype_as = "dy"},
                 {.name = "y", .same_dtype_as = "dy", .optional = true},
                 PerChannel("weight", "dy"),
                 OfStatistics("mean"),
                 OfStatistics("invstd")},
      .outputs = {{.name = "dx"}, {.name = "dweight"}, {.name = "dbias"}},
      .attrs = AttrsOf<BatchNormAttrs>(),
      .infer = InferGrad,
      .may_reuse = {{GradOut::kDx, GradIn::kDy}},
      .kernels = {cpu::BatchNormGradKernel()},
      .graph = &kGradTraits,
  };
}

Tensor Activated(const Tensor& z, FusedActivation activation) {
  if (activation == FusedActivation::kRelu) return Relu(z);
  return activation == FusedActivation::kTanh ? Tanh(z) : z;
}

}  // namespace

Tensor BatchNorm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                 const Tensor& weight, const Tensor& bias, const BatchNormOptions& o) {
  const OpDef &plain = TheOp<"batch_norm_train">(), &activated = TheOp<"batch_norm_act_train">();
  const OpDef& op = o.activation == FusedActivation::kNone ? plain : activated;
  if (o.training || !running_mean.defined() || !running_var.defined()) {
    return std::move(Apply(op, {x, weight, bias, running_mean, running_var},
                           BatchNormAttrs{o.momentum, o.eps, o.activation})[0]);
  }
  const Tensor invstd = Rsqrt(Add(running_var, o.eps));
  const Tensor scale = weight.defined() ? Mul(weight, invstd) : invstd;
  const Tensor shift = Mul(running_mean, Mul(scale, -1));
  return Activated(ChannelAffine(x, scale, bias.defined() ? Add(shift, bias) : shift),
                   o.activation);
}

}  // namespace firn
