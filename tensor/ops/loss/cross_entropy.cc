// cross_entropy: log-softmax and negative log likelihood in one.
//
// With p = softmax(x), s = log sum_j exp(x_j), smoothing e, C classes and target t, the loss of a
// sample is sum_j q_j (s - x_j) with q_j = (1 - e) w_t [j = t] + (e / C) w_j, so that
//   d loss / d x_j = A p_j - q_j,  A = sum_j q_j.
// The forward pass keeps s, from which the backward pass has p_j = exp(x_j - s) in one walk over x;
// probabilities are never stored. Where s is so large that it lacks digits of a logarithm, the sum
// is computed again. Targets that are probabilities are composed of other operations.

#include "firn/tensor/ops/loss/cross_entropy.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/class_loss.h"
#include "firn/tensor/kernels/cpu/softmax.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// The dtype of log sum exp: half types would lose it.
DType WideOf(DType d) { return d == DType::kF64 ? DType::kF64 : DType::kF32; }

absl::Status CheckAttrs(const CrossEntropyAttrs& a) {
  FIRN_RETURN_IF(!(a.label_smoothing >= 0 && a.label_smoothing <= 1),
                 InvalidArgument("label_smoothing must be in [0, 1], got ", a.label_smoothing));
  return CheckReduction(a.reduction);
}

absl::Status Infer(InferContext& c) {
  const CrossEntropyAttrs& a = c.attrs<CrossEntropyAttrs>();
  FIRN_RETURN_IF_ERROR(CheckAttrs(a));
  FIRN_RETURN_IF_ERROR(CheckClasses(c, c.shape(0), "logits", 1));
  c.set_out(0, c.dtype(0), LossShape(c.shape(1), a.reduction));
  c.set_out(1, WideOf(c.dtype(0)), c.shape(1));
  return absl::OkStatus();
}

absl::Status InferGrad(InferContext& c) {
  const CrossEntropyAttrs& a = c.attrs<CrossEntropyAttrs>();
  FIRN_RETURN_IF_ERROR(CheckAttrs(a));
  FIRN_RETURN_IF_ERROR(CheckClasses(c, c.shape(1), "logits", 2));
  const Shape dy = LossShape(c.shape(2), a.reduction);
  FIRN_RETURN_IF(c.shape(0) != dy, InvalidArgument("dy must have shape ", dy.ToString(), ", got ",
                                                   c.shape(0).ToString()));
  FIRN_RETURN_IF(c.shape(4) != c.shape(2) || c.dtype(4) != WideOf(c.dtype(1)),
                 InvalidArgument("logsumexp must be ", DTypeName(WideOf(c.dtype(1))), " ",
                                 c.shape(2).ToString(), ", got ", c.in(4).ToString()));
  c.set_out_like(0, 1);
  return absl::OkStatus();
}

template <int kLogits, int kTarget>
absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int) {
  const Shape& logits = q.in(kLogits).shape;
  return IndexBounds{0, logits[ClassDim(logits)], q.attrs<CrossEntropyAttrs>().ignore_index};
}

// The part of the target distribution that does not depend on the target.
template <class Acc>
struct Smoothing {
  Acc rest;       // 1 - e
  Acc share = 0;  // e / C
  Acc total = 0;  // (e / C) sum_j w_j
  const Acc* weights;

  Smoothing(double e, int64_t classes, const Acc* w) : rest(static_cast<Acc>(1 - e)), weights(w) {
    if (e == 0) return;
    double sum = w == nullptr ? static_cast<double>(classes) : 0.0;
    for (int64_t j = 0; w != nullptr && j < classes; ++j) sum += static_cast<double>(w[j]);
    share = static_cast<Acc>(e / static_cast<double>(classes));
    total = static_cast<Acc>(e / static_cast<double>(classes) * sum);
  }
  Acc at(int64_t j) const { return weights == nullptr ? share : share * weights[j]; }
};

template <class Acc>
void LossOfStrip(const cpu::Strip& s, const cpu::RowsIn<Acc>& x, const cpu::Targets<Acc>& targets,
                 const Smoothing<Acc>& smooth, Acc* losses, Acc* logsumexp) {
  Acc top[cpu::kStripWidth], log_sum[cpu::kStripWidth], smoothed[cpu::kStripWidth];
  Acc* const none = nullptr;
  cpu::MaxStrip(s, x, top);
  cpu::SumExpStrip(s, x, top, none, log_sum);
  if (smooth.share != 0) {
    const auto term = [&](int64_t c, int64_t j, Acc v) { return smooth.at(j) * (v - top[c]); };
    cpu::SumStrip(s, term, smoothed, x);
  }
  for (int64_t c = 0; c < s.width; ++c) {
    const int64_t sample = s.first + c;
    log_sum[c] = math::Log(log_sum[c]);
    logsumexp[sample] = top[c] + log_sum[c];
    losses[sample] = 0;
    if (targets.ignores(sample)) continue;
    const Acc picked = x[s.offset + targets[sample] * s.stride + c] - top[c];
    losses[sample] = smooth.rest * targets.weight(sample) * (log_sum[c] - picked);
    if (smooth.share != 0) losses[sample] += smooth.total * log_sum[c] - smoothed[c];
  }
}

// First the losses of all samples, then weights.
size_t LossesWorkspace(const Shape& target) {
  return cpu::LossWorkspace(target.num_elements(), Reduction::kSum);
}
size_t Workspace(const KernelQuery& q) {
  return LossesWorkspace(q.in(1).shape) + cpu::ClassWeightsWorkspace(q, 2);
}

template <class Acc>
void RunOn(KernelContext& k) {
  const CrossEntropyAttrs& a = k.attrs<CrossEntropyAttrs>();
  const Shape& shape = k.in_spec(0).shape;
  const Lines lines = LinesAlong(shape, ClassDim(shape));
  Acc* const losses = k.workspace<Acc>();
  const cpu::Targets<Acc> targets(k, 1, a.ignore_index,
                                  k.workspace<char>() + LossesWorkspace(k.in_spec(1).shape));
  const Smoothing<Acc> smooth(a.label_smoothing, lines.length, targets.weights());
  const auto strip = [&](const cpu::Strip& s, const auto&, const cpu::RowsIn<Acc>& x) {
    LossOfStrip(s, x, targets, smooth, losses, k.out<Acc>(1));
  };
  cpu::ForEachStrip(lines, cpu::RowsOut<Acc>(nullptr), strip, cpu::RowsIn<Acc>(k, 0));
  const cpu::RowsOut<Acc> loss(k, 0);
  if (a.reduction == Reduction::kNone) return loss.Store(0, targets.count(), losses);
  const double divisor = a.reduction == Reduction::kMean ? targets.total_weight() : 1.0;
  const Acc all = cpu::ReduceLosses(losses, targets.count(), divisor);
  loss.Store(0, 1, &all);
}

absl::Status Run(KernelContext& k) {
  cpu::VisitComputed(k.in_spec(0).dtype, [&]<class Acc>(TypeTag<Acc>) { RunOn<Acc>(k); });
  return absl::OkStatus();
}

// Replaces the logsumexp of each line in `shift`, and the factor of exp(x - shift), by those for a
// shift that has all its digits.
template <class Acc>
void MendFarShifts(const cpu::Strip& s, const cpu::RowsIn<Acc>& x, Acc* shift, Acc* factor) {
  const bool far = std::any_of(shift, shift + s.width, IsFarLogarithm<Acc>);
  if (!far) [[likely]]
    return;
  Acc top[cpu::kStripWidth], sum[cpu::kStripWidth];
  Acc* const none = nullptr;
  cpu::MaxStrip(s, x, top);
  cpu::SumExpStrip(s, x, top, none, sum);
  for (int64_t c = 0; c < s.width; ++c) {
    if (!IsFarLogarithm(shift[c])) continue;
    shift[c] = top[c];
    factor[c] /= sum[c];
  }
}

// dx_j = scale (A p_j - q_j).
template <class Acc>
void GradOfStrip(const cpu::Strip& s, const cpu::RowsIn<Acc>& x, const cpu::Targets<Acc>& targets,
                 const Smoothing<Acc>& smooth, const Acc* logsumexp, const Acc* scales,
                 const cpu::RowsOut<Acc>& dx) {
  Acc factor[cpu::kStripWidth], shift[cpu::kStripWidth];
  for (int64_t c = 0; c < s.width; ++c) {
    factor[c] = scales[c] * (smooth.rest * targets.weight(s.first + c) + smooth.total);
    shift[c] = logsumexp[s.first + c];
  }
  MendFarShifts(s, x, shift, factor);
  const auto from_p = [&](int64_t c, int64_t, Acc v) {
    return factor[c] * math::Exp(v - shift[c]);
  };
  const auto from_smoothing = [&](int64_t c, int64_t j, Acc v) {
    return from_p(c, j, v) - scales[c] * smooth.at(j);
  };
  smooth.share == 0 ? cpu::MapStrip(s, dx, from_p, x) : cpu::MapStrip(s, dx, from_smoothing, x);
  const Acc zero = 0;
  for (int64_t c = 0; c < s.width; ++c) {
    const int64_t sample = s.first + c;
    if (targets.ignores(sample)) {  // also where x is NaN
      for (int64_t j = 0; j < s.length; ++j) dx.Store(s.offset + j * s.stride + c, 1, &zero);
      continue;
    }
    const int64_t t = targets[sample], at = s.offset + t * s.stride + c;
    const Acc q = smooth.rest * targets.weight(sample) + smooth.at(t);
    const Acc picked = from_p(c, t, x[at]) - scales[c] * q;
    dx.Store(at, 1, &picked);
  }
}

size_t GradWorkspace(const KernelQuery& q) { return cpu::ClassWeightsWorkspace(q, 3); }

template <class Acc>
void RunGradOn(KernelContext& k) {
  const CrossEntropyAttrs& a = k.attrs<CrossEntropyAttrs>();
  const Shape& shape = k.in_spec(1).shape;
  const Lines lines = LinesAlong(shape, ClassDim(shape));
  const cpu::Targets<Acc> targets(k, 2, a.ignore_index, k.workspace());
  const Smoothing<Acc> smooth(a.label_smoothing, lines.length, targets.weights());
  const cpu::RowsIn<Acc> dy(k, 0);
  const bool each = a.reduction == Reduction::kNone;
  const Acc of_all = each ? Acc{0} : dy[0];
  const double divisor = a.reduction == Reduction::kMean ? targets.total_weight() : 1.0;
  const auto strip = [&](const cpu::Strip& s, const cpu::RowsOut<Acc>& dx,
                         const cpu::RowsIn<Acc>& x) {
    Acc scales[cpu::kStripWidth];
    if (each) dy.Load(s.first, s.width, scales);
    for (int64_t c = 0; c < s.width; ++c) {
      const double v = static_cast<double>(each ? scales[c] : of_all);
      scales[c] = static_cast<Acc>(v / divisor);
    }
    GradOfStrip(s, x, targets, smooth, k.in<Acc>(4), scales, dx);
  };
  cpu::ForEachStrip(lines, cpu::RowsOut<Acc>(k, 0), strip, cpu::RowsIn<Acc>(k, 1));
}

absl::Status RunGrad(KernelContext& k) {
  cpu::VisitComputed(k.in_spec(1).dtype, [&]<class Acc>(TypeTag<Acc>) { RunGradOn<Acc>(k); });
  return absl::OkStatus();
}

Tensor CrossEntropyGrad(const Tensor& dy, const Tensor& logits, const Tensor& target,
                        const Tensor& weight, const Tensor& logsumexp, const CrossEntropyAttrs& a) {
  return Apply1(TheOp<"cross_entropy_grad">(), {dy, logits, target, weight, logsumexp}, a);
}

// A tensor of target's shape, viewed so that it broadcasts over the logits.
Tensor OverClasses(const Tensor& t, const Shape& logits) {
  Dims d = logits.dims();
  d[ClassDim(logits)] = 1;
  return Reshape(t, d.span());
}

void Grad(GradContext& g) {
  if (!g.needs(0)) return;
  const Tensor &logits = g.input(0), &logsumexp = g.output(1);
  Tensor dx = CrossEntropyGrad(g.grad_output(0), logits, g.input(1), g.input(2), logsumexp,
                               g.attrs<CrossEntropyAttrs>());
  if (g.has_grad_output(1)) {
    const Tensor du = OverClasses(g.grad_output(1), logits.shape());
    dx = Add(dx, Mul(du, Softmax(logits, ClassDim(logits.shape()))));
  }
  g.set_grad_input(0, std::move(dx));
}

// For u flowing into dx = dy (A p - q) / divisor: the contribution of p is the difference to the
// same gradient with p = 0, that is with an infinite logsumexp.
void GradOfGrad(GradContext& g) {
  const CrossEntropyAttrs& a = g.attrs<CrossEntropyAttrs>();
  const Tensor &u = g.grad_output(), &dy = g.input(0), &logits = g.input(1), &target = g.input(2),
               &weight = g.input(3), &logsumexp = g.input(4);
  const DimList classes = ClassDim(logits.shape());
  if (g.needs(0)) {
    const Tensor unit = CrossEntropyGrad(OnesLike(dy), logits, target, weight, logsumexp, a);
    const bool each = a.reduction == Reduction::kNone;
    g.set_grad_input(0, Sum(Mul(u, unit), each ? classes : DimList()));
  }
  if (!g.needs(1) && !g.needs(4)) return;
  const Tensor far = FullLike(logsumexp, std::numeric_limits<double>::infinity());
  const Tensor from_p = Sub(CrossEntropyGrad(dy, logits, target, weight, logsumexp, a),
                            CrossEntropyGrad(dy, logits, target, weight, far, a));
  const Tensor dlogits = Mul(u, from_p);
  if (g.needs(1)) g.set_grad_input(1, dlogits);
  if (g.needs(4)) g.set_grad_input(4, Mul(Sum(dlogits, classes), -1));
}

FIRN_REGISTER_OP(cross_entropy) {
  return {
      .doc =
          "The cross entropy of softmax(logits) and class indices, and log(sum(exp(logits))). "
          "Not differentiable in weight.",
      .autocast = Autocast::kFull,
      .inputs = {{.name = "logits", .dtypes = kFloating, .min_rank = 1},
                 {.name = "label", .dtypes = kIndex},
                 {.name = "weight",
                  .same_dtype_as = "logits",
                  .min_rank = 1,
                  .max_rank = 1,
                  .optional = true}},
      .outputs = {{.name = "loss"}, {.name = "logsumexp"}},
      .attrs = AttrsOf<CrossEntropyAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Input(2), Saved::Output(1)},
      .index_bounds = Bounds<0, 1>,
      .index_inputs = {1},
      .kernels = {{.name = "loop", .workspace = Workspace, .run = Run}},
  };
}

FIRN_REGISTER_OP(cross_entropy_grad) {
  return {
      .doc = "The gradient of cross_entropy in the logits. Not differentiable in weight.",
      .inputs = {{.name = "dy", .dtypes = kFloating},
                 {.name = "logits", .same_dtype_as = "dy", .min_rank = 1},
                 {.name = "label", .dtypes = kIndex},
                 {.name = "weight",
                  .same_dtype_as = "logits",
                  .min_rank = 1,
                  .max_rank = 1,
                  .optional = true},
                 {.name = "logsumexp", .dtypes = SetOf(DType::kF32) | SetOf(DType::kF64)}},
      .outputs = {{.name = "dlogits"}},
      .attrs = AttrsOf<CrossEntropyAttrs>(),
      .infer = InferGrad,
      .grad = GradOfGrad,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Input(2), Saved::Input(3),
                Saved::Input(4)},
      .index_bounds = Bounds<1, 2>,
      .index_inputs = {2},
      .kernels = {{.name = "loop", .workspace = GradWorkspace, .run = RunGrad}},
  };
}

absl::Status CheckProbabilities(const Tensor& logits, const Tensor& target, const Tensor& weight) {
  FIRN_RETURN_IF(logits.shape() != target.shape() || logits.rank() == 0,
                 InvalidArgument("target ", target.spec().ToString(),
                                 " are probabilities and must have the shape of logits ",
                                 logits.spec().ToString()));
  const int64_t classes = logits.shape()[ClassDim(logits.shape())];
  FIRN_RETURN_IF(weight.defined() && (weight.rank() != 1 || weight.size(0) != classes),
                 InvalidArgument("weight ", weight.shape().ToString(),
                                 " must have one element for each of ", classes, " classes"));
  return absl::OkStatus();
}

// The cross entropy with target probabilities.
Tensor OfProbabilities(const Tensor& logits, const Tensor& target, const Tensor& weight,
                       const CrossEntropyAttrs& a) {
  RaiseIfError(CheckProbabilities(logits, target, weight), "cross_entropy");
  RaiseIfError(CheckAttrs(a), "cross_entropy");
  const int dim = ClassDim(logits.shape());
  const int64_t classes = logits.shape()[dim];
  Tensor q = target;
  if (a.label_smoothing > 0) {
    q = Add(Mul(q, 1 - a.label_smoothing), a.label_smoothing / static_cast<double>(classes));
  }
  if (weight.defined()) {
    Dims d(logits.rank(), 1);
    d[dim] = classes;
    q = Mul(q, Reshape(weight, d.span()));
  }
  const Tensor terms = Mul(LogSoftmax(logits, dim), q);
  if (a.reduction == Reduction::kNone) return Mul(Sum(terms, dim), -1);
  const auto samples = static_cast<double>(LabelShape(logits.shape()).num_elements());
  return Mul(Sum(terms), a.reduction == Reduction::kMean ? -1 / samples : -1.0);
}

}  // namespace

void CrossEntropyOptions::Check(const char* where) const {
  RaiseIfError(CheckAttrs({ignore_index, reduction, label_smoothing}), where);
}

Tensor CrossEntropy(const Tensor& logits, const Tensor& target,
                    const CrossEntropyOptions& options) {
  const CrossEntropyAttrs a{options.ignore_index, options.reduction, options.label_smoothing};
  if (logits.defined() && target.defined() && IsFloating(target.dtype())) {
    return OfProbabilities(logits, target, options.weight, a);
  }
  return Apply(TheOp<"cross_entropy">(), {logits, target, options.weight}, a)[0];
}

}  // namespace firn
