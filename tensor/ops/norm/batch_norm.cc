// batch_norm_train, its fused gradient, and BatchNorm, which picks between it and a per-channel
// affine map with fixed statistics.
//
// The fused gradient computes dx, dweight and dbias in one go. When the gradient is itself recorded
// (create_graph) the same formula is written out with operations instead:
//   dx = weight invstd (dz - mean(dz) - xhat mean(dz xhat))

#include "tensor/ops/norm/batch_norm.h"

#include "tensor/apply.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "tensor/graph_traits.h"
#include "tensor/kernels/convert.h"
#include "tensor/kernels/cpu/batch_norm.h"
#include "tensor/op.h"
#include "tensor/ops/activation/rectifiers.h"
#include "tensor/ops/activation/sigmoids.h"
#include "tensor/ops/compare/compare.h"
#include "tensor/ops/conv/channels.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/elementwise/choose.h"
#include "tensor/ops/elementwise/power.h"

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

template <class T>
void MoveTowards(T* running, double batch, double momentum) {
  if (running == nullptr) return;
  *running = ConvertTo<T>((1 - momentum) * static_cast<double>(*running) + momentum * batch);
}

// Statistics and normalisation of group g.
template <FusedActivation kActivation, class T, class Acc>
void NormalizeGroup(KernelContext& k, const cpu::ChannelView& v, int64_t g) {
  const BatchNormAttrs& a = k.attrs<BatchNormAttrs>();
  double mean[kChannelBlock], var[kChannelBlock];
  const T* x = k.in<T>(In::kX);
  cpu::GroupStatistics<T, Acc>(v, x, g, mean, var);
  const auto count = static_cast<double>(v.per_channel());
  Acc scale[kChannelBlock], shift[kChannelBlock];
  for (int64_t b = 0; b < v.block; ++b) {
    const int64_t c = g * v.block + b;
    const double invstd = 1 / std::sqrt(var[b] + a.eps);
    const double w = k.has(In::kWeight) ? static_cast<double>(k.in<T>(In::kWeight)[c]) : 1;
    scale[b] = static_cast<Acc>(w * invstd);
    shift[b] = static_cast<Acc>(k.has(In::kBias) ? static_cast<double>(k.in<T>(In::kBias)[c]) : 0);
    k.out<Acc>(Out::kMean)[c] = static_cast<Acc>(mean[b]);
    k.out<Acc>(Out::kInvstd)[c] = static_cast<Acc>(invstd);
    if (k.has(In::kRunningMean)) {
      MoveTowards(k.inout<T>(In::kRunningMean) + c, mean[b], a.momentum);
    }
    if (k.has(In::kRunningVar)) {
      MoveTowards(k.inout<T>(In::kRunningVar) + c, var[b] * count / (count - 1), a.momentum);
    }
  }
  Acc m[cpu::kLanes], s[cpu::kLanes], t[cpu::kLanes];
  cpu::SpreadLanes(mean, 0, v.block, Acc{0}, m);
  cpu::SpreadLanes(scale, 0, v.block, Acc{0}, s);
  cpu::SpreadLanes(shift, 0, v.block, Acc{0}, t);
  for (int64_t n = 0; n < v.batch; ++n) {
    const T* from = x + v.offset(n, g);
    T* to = k.out<T>(Out::kY) + v.offset(n, g);
    cpu::ForEachLane(v.run, [&](int64_t i, int64_t j) {
      const Acc z = (static_cast<Acc>(from[i]) - m[j]) * s[j] + t[j];
      to[i] = static_cast<T>(Activate<kActivation>(z));
    });
  }
}

int64_t GroupGrain(const cpu::ChannelView& v) {
  return std::max<int64_t>(1, 8192 / std::max<int64_t>(1, v.batch * v.run));
}

absl::Status Run(KernelContext& k) {
  const cpu::ChannelView v = cpu::ViewChannels(k.in_spec(In::kX));
  VisitFloat(k.in_spec(In::kX).dtype, [&]<class T>(TypeTag<T>) {
    VisitActivation(k.attrs<BatchNormAttrs>().activation, [&](auto activation) {
      ParallelFor(v.groups, GroupGrain(v), [&](int64_t begin, int64_t end) {
        for (int64_t g = begin; g < end; ++g) {
          NormalizeGroup<decltype(activation)::value, T, AccumulatorOf<T>>(k, v, g);
        }
      });
    });
  });
  return absl::OkStatus();
}

// --- The fused gradient: dy, x, y, weight, mean, invstd -> dx, dweight, dbias
// ---------------------

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
  const DType dtype = c.dtype(GradIn::kDy), statistics = StatisticsType(dtype);
  for (int i : {GradIn::kMean, GradIn::kInvstd}) {
    FIRN_RETURN_IF(c.dtype(i) != statistics,
                   InvalidArgument(kNames[i], " must be ", DTypeName(statistics)));
  }
  c.set_out_like(GradOut::kDx, GradIn::kDy);
  c.set_out(GradOut::kDweight, dtype, Shape({dy[1]}));
  c.set_out(GradOut::kDbias, dtype, Shape({dy[1]}));
  return absl::OkStatus();
}

template <FusedActivation kActivation, class T, class Acc>
void GroupGradient(KernelContext& k, const cpu::ChannelView& v, int64_t g) {
  const T *dy = k.in<T>(GradIn::kDy), *x = k.in<T>(GradIn::kX), *y = k.in<T>(GradIn::kY);
  Acc mean[cpu::kLanes];
  cpu::SpreadLanes(k.in<Acc>(GradIn::kMean), g, v.block, Acc{0}, mean);
  double sum_dz[kChannelBlock], sum_dz_x[kChannelBlock];
  cpu::GroupGradSums<kActivation, T, Acc>(v, x, y, dy, g, mean, sum_dz, sum_dz_x);
  const auto count = static_cast<double>(v.per_channel());
  // dx = a dz + b (x - mean) + c
  Acc a[kChannelBlock], b[kChannelBlock], c[kChannelBlock];
  for (int64_t i = 0; i < v.block; ++i) {
    const int64_t channel = g * v.block + i;
    const double invstd = static_cast<double>(k.in<Acc>(GradIn::kInvstd)[channel]);
    const T* weight = k.in<T>(GradIn::kWeight);
    const double w = weight != nullptr ? static_cast<double>(weight[channel]) : 1;
    a[i] = static_cast<Acc>(w * invstd);
    b[i] = static_cast<Acc>(-w * invstd * invstd * invstd * sum_dz_x[i] / count);
    c[i] = static_cast<Acc>(-w * invstd * sum_dz[i] / count);
    k.out<T>(GradOut::kDweight)[channel] = ConvertTo<T>(sum_dz_x[i] * invstd);
    k.out<T>(GradOut::kDbias)[channel] = ConvertTo<T>(sum_dz[i]);
  }
  Acc la[cpu::kLanes], lb[cpu::kLanes], lc[cpu::kLanes];
  cpu::SpreadLanes(a, 0, v.block, Acc{0}, la);
  cpu::SpreadLanes(b, 0, v.block, Acc{0}, lb);
  cpu::SpreadLanes(c, 0, v.block, Acc{0}, lc);
  for (int64_t n = 0; n < v.batch; ++n) {
    const int64_t at = v.offset(n, g);
    T* dx = k.out<T>(GradOut::kDx) + at;
    cpu::ForEachLane(v.run, [&](int64_t i, int64_t j) {
      const Acc out = kActivation == FusedActivation::kNone ? Acc{0} : static_cast<Acc>(y[at + i]);
      const Acc dz = ActivationGrad<kActivation>(static_cast<Acc>(dy[at + i]), out);
      dx[i] = static_cast<T>(la[j] * dz + lb[j] * (static_cast<Acc>(x[at + i]) - mean[j]) + lc[j]);
    });
  }
}

absl::Status RunGrad(KernelContext& k) {
  const cpu::ChannelView v = cpu::ViewChannels(k.in_spec(GradIn::kDy));
  VisitFloat(k.in_spec(GradIn::kDy).dtype, [&]<class T>(TypeTag<T>) {
    VisitActivation(k.attrs<BatchNormAttrs>().activation, [&](auto activation) {
      ParallelFor(v.groups, GroupGrain(v), [&](int64_t begin, int64_t end) {
        for (int64_t g = begin; g < end; ++g) {
          GroupGradient<decltype(activation)::value, T, AccumulatorOf<T>>(k, v, g);
        }
      });
    });
  });
  return absl::OkStatus();
}

// dz by operations.
Tensor ThroughActivation(const Tensor& dy, const Tensor& y, FusedActivation activation) {
  if (activation == FusedActivation::kRelu) return Where(Gt(y, 0), dy, 0);
  if (activation == FusedActivation::kTanh) return Mul(dy, Sub(1, Square(y)));
  return dy;
}

void RecordedGrad(GradContext& g, const BatchNormAttrs& a) {
  const Tensor &x = g.input(In::kX), &weight = g.input(In::kWeight);
  const auto count = static_cast<double>(x.num_elements() / x.size(1));
  const bool activated = a.activation != FusedActivation::kNone;
  const Tensor& dy = g.grad_output(Out::kY);
  const Tensor dz = activated ? ThroughActivation(dy, g.output(Out::kY), a.activation) : dy;
  const auto mean = [&](const Tensor& t) { return Mul(ChannelSum(t), 1 / count); };
  const Tensor centred = ChannelAffine(x, {}, Mul(mean(x), -1));
  const Tensor invstd = Rsqrt(Add(mean(Square(centred)), a.eps));
  const Tensor xhat = ChannelAffine(centred, invstd, {});
  if (g.needs(In::kBias)) g.set_grad_input(In::kBias, ChannelSum(dz));
  if (g.needs(In::kWeight)) g.set_grad_input(In::kWeight, ChannelSum(Mul(dz, xhat)));
  if (!g.needs(In::kX)) return;
  const Tensor inner =
      Sub(ChannelAffine(dz, {}, Mul(mean(dz), -1)), ChannelAffine(xhat, mean(Mul(dz, xhat)), {}));
  g.set_grad_input(In::kX,
                   ChannelAffine(inner, weight.defined() ? Mul(weight, invstd) : invstd, {}));
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
  g.set_grad_input(In::kX, std::move(d[GradOut::kDx]));
  g.set_grad_input(In::kWeight, std::move(d[GradOut::kDweight]));
  g.set_grad_input(In::kBias, std::move(d[GradOut::kDbias]));
}

ArgDecl PerChannel(std::string_view name, bool inout = false) {
  return {.name = name,
          .same_dtype_as = "x",
          .min_rank = 1,
          .max_rank = 1,
          .optional = true,
          .inout = inout};
}

// --- What graphs know of it ----------------------------------------------------------------------

// In the half types y would no longer be rounded before the activation.
std::optional<OpCall> WithActivation(AttrsRef attrs, const TensorSpec& y, FusedActivation f) {
  if (y.dtype != DType::kF32 && y.dtype != DType::kF64) return {};
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
// It has its activation.
constexpr GraphTraits kActivatedTraits = {
    .centring = kTraits.centring, .cheap_again = true, .evaluate = Evaluate};

constexpr GraphTraits kGradTraits = {
    .centring_gradient =
        CentringGradient{.x = GradIn::kX, .mean = GradIn::kMean, .dx = GradOut::kDx},
};

OpDef TrainingOp(std::string_view doc, InferFn infer, const GraphTraits& traits) {
  return {
      .doc = doc,
      .autocast = Autocast::kFull,
      .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 2},
                 PerChannel("weight"),
                 PerChannel("bias"),
                 PerChannel("running_mean", true),
                 PerChannel("running_var", true)},
      .outputs = {{.name = "y"},
                  {.name = "mean", .constant = true},
                  {.name = "invstd", .constant = true}},
      .attrs = AttrsOf<BatchNormAttrs>(),
      .infer = infer,
      .grad = Grad,
      .saves = {Saved::Input(In::kX), Saved::Input(In::kWeight), Saved::Output(Out::kMean),
                Saved::Output(Out::kInvstd)},
      .kernels = {{.name = "loop", .layouts = cpu::ChannelLayouts, .run = Run}},
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
                 {.name = "weight",
                  .same_dtype_as = "dy",
                  .min_rank = 1,
                  .max_rank = 1,
                  .optional = true},
                 {.name = "mean", .dtypes = kStatistics, .min_rank = 1, .max_rank = 1},
                 {.name = "invstd", .dtypes = kStatistics, .min_rank = 1, .max_rank = 1}},
      .outputs = {{.name = "dx"}, {.name = "dweight"}, {.name = "dbias"}},
      .attrs = AttrsOf<BatchNormAttrs>(),
      .infer = InferGrad,
      .may_reuse = {{GradOut::kDx, GradIn::kDy}},
      .kernels = {{.name = "loop", .layouts = cpu::ChannelLayouts, .run = RunGrad}},
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
