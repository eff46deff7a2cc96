// adam_step: one pass over parameters, gradients and moments, 28 bytes an element in f32, shared
// out by blocks of elements.
//
// Bias corrections are folded into two scalars before the loop:
//   param = shrink param - rate mean / (sqrt(u) root_scale + eps)
// with rate = lr / (1 - beta1^t) and root_scale = 1 / sqrt(1 - beta2^t). What remains is memory
// traffic: the root and the division hide behind it.

#include "tensor/ops/optimizer/adam.h"

#include <vector>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/optimizer_step.h"
#include "tensor/op.h"
#include "tensor/ops/optimizer/adam_fn.h"

namespace firn {
namespace {

// For each parameter, see kernels/optimizer_inputs.h:
enum Input { kParam, kGrad, kMean, kVar, kMaxVar, kStep, kCycle };

absl::Status Infer(InferContext& c) {
  return InferOptimizerStep(
      c, kCycle, {{kGrad, "grad"}, {kMean, "mean"}, {kVar, "var"}, {kMaxVar, "max_var"}});
}

template <class T>
struct Arrays {
  T* p;
  const T* g;
  T *m, *v, *max_v;
};

template <bool kMax, class T>
void Loop(const Arrays<T>& a, int64_t begin, int64_t end, const AdamScalars& s) {
  using C = cpu::ComputeOf<T>;
  const AdamFn<C> f(s);
  T *p = a.p, *m = a.m, *v = a.v;
  const T* grad = a.g;
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    const C x = static_cast<C>(p[i]);
    C mean = static_cast<C>(m[i]), var = static_cast<C>(v[i]);
    f.Moments(x, static_cast<C>(grad[i]), mean, var);
    C u = var;
    if constexpr (kMax) {
      const C top = static_cast<C>(a.max_v[i]);
      u = top > var ? top : var;
      a.max_v[i] = static_cast<T>(u);
    }
    m[i] = static_cast<T>(mean);
    v[i] = static_cast<T>(var);
    p[i] = static_cast<T>(f.Param(x, mean, u));
  }
}

absl::Status Run(KernelContext& k) {
  const AdamStepAttrs& attrs = k.attrs<AdamStepAttrs>();
  if (cpu::SkipsStep(k)) return absl::OkStatus();
  const double lr = cpu::ScalarOf(k, kLearningRate);
  cpu::TensorSeries(k, kFirstParam, kCycle).ForEachPiece([&](int i, int64_t begin, int64_t end) {
    const AdamScalars s = AdamScalarsOf(attrs, lr, *k.in<int64_t>(i + kStep) + 1);
    VisitFloat(k.in_spec(i).dtype, [&]<class T>(TypeTag<T>) {
      const Arrays<T> a = {k.inout<T>(i + kParam), k.in<T>(i + kGrad), k.inout<T>(i + kMean),
                           k.inout<T>(i + kVar), k.inout<T>(i + kMaxVar)};
      a.max_v == nullptr ? Loop<false>(a, begin, end, s) : Loop<true>(a, begin, end, s);
    });
  });
  cpu::CountSteps(k, kCycle, kStep);
  return absl::OkStatus();
}

FIRN_REGISTER_OP(adam_step) {
  return {
      .doc = "One step of Adam, AdamW or AMSGrad for all parameters, in place. Not differentiable.",
      .inputs = {{.name = "lr", .dtypes = kFloating, .max_rank = 0},
                 {.name = "skip", .dtypes = SetOf(DType::kBool), .max_rank = 0, .optional = true},
                 {.name = "param", .dtypes = kFloating, .inout = true, .variadic = true},
                 {.name = "grad", .same_dtype_as = "param", .variadic = true},
                 {.name = "mean", .same_dtype_as = "param", .inout = true, .variadic = true},
                 {.name = "var", .same_dtype_as = "param", .inout = true, .variadic = true},
                 {.name = "max_var",
                  .same_dtype_as = "param",
                  .optional = true,
                  .inout = true,
                  .variadic = true},
                 {.name = "step",
                  .dtypes = SetOf(DType::kI64),
                  .max_rank = 0,
                  .inout = true,
                  .variadic = true}},
      .attrs = AttrsOf<AdamStepAttrs>(),
      .infer = Infer,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

void inner::AdamStep(const Tensor& param, const Tensor& grad, const Tensor& mean, const Tensor& var,
                     const Tensor& max_var, const Tensor& step, const Tensor& lr,
                     const AdamStepAttrs& attrs) {
  AdamStep({{param, grad, mean, var, max_var, step}}, lr, attrs);
}

void inner::AdamStep(absl::Span<const AdamStepSlot> slots, const Tensor& lr,
                     const AdamStepAttrs& attrs, const Tensor& skip) {
  std::vector<TensorRef> in = {lr, skip};
  in.reserve(kFirstParam + slots.size() * kCycle);
  for (const AdamStepSlot& s : slots) {
    in.insert(in.end(), {s.param, s.grad, s.mean, s.var, s.max_var, s.step});
  }
  Apply(TheOp<"adam_step">(), in, attrs);
}

}  // namespace firn
