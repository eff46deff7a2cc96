// sgd_step: one pass over all parameters that reads parameter, gradient and velocity once and
// writes what changed. Work is shared out by blocks of elements, so that hundreds of small
// parameters beside a few large ones keep all threads busy.
//
// All options are reduced to three coefficients before the loop, so one loop serves them all; a
// step without momentum has a loop of its own, which touches no velocity.

#include "tensor/ops/optimizer/sgd.h"

#include <vector>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/optimizer_step.h"
#include "tensor/op.h"
#include "tensor/ops/optimizer/sgd_fn.h"

namespace firn {
namespace {

// For each parameter, see kernels/optimizer_inputs.h:
enum Input { kParam, kGrad, kVelocity, kStep, kCycle };

absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF_ERROR(
      InferOptimizerStep(c, kCycle, {{kGrad, "grad"}, {kVelocity, "momentum_buffer"}}));
  const SgdStepAttrs& a = c.attrs<SgdStepAttrs>();
  for (int i = kFirstParam; i < c.num_inputs(); i += kCycle) {
    FIRN_RETURN_IF(a.momentum != 0 && !c.has(i + kVelocity),
                   InvalidArgument("momentum ", a.momentum, " needs a momentum_buffer"));
  }
  FIRN_RETURN_IF(a.nesterov && (a.momentum <= 0 || a.dampening != 0),
                 InvalidArgument("nesterov needs a positive momentum and no dampening, got ",
                                 a.momentum, " and ", a.dampening));
  return absl::OkStatus();
}

// p -= lr (g + decay p)
template <class T>
void Plain(T* p, const T* g, int64_t n, double lr, double decay) {
  using C = cpu::ComputeOf<T>;
  const SgdPlainFn<C> f = {static_cast<C>(lr), static_cast<C>(decay)};
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    p[i] = static_cast<T>(f(static_cast<C>(p[i]), static_cast<C>(g[i])));
  }
}

template <class T>
void WithVelocity(T* p, const T* g, T* v, int64_t n, const SgdCoefficients& c) {
  using C = cpu::ComputeOf<T>;
  const SgdVelocityFn<C> f(c);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    C velocity = static_cast<C>(v[i]);
    const C x = f(static_cast<C>(p[i]), static_cast<C>(g[i]), velocity);
    v[i] = static_cast<T>(velocity);
    p[i] = static_cast<T>(x);
  }
}

absl::Status Run(KernelContext& k) {
  const SgdStepAttrs& a = k.attrs<SgdStepAttrs>();
  if (cpu::SkipsStep(k)) return absl::OkStatus();
  const double lr = cpu::ScalarOf(k, kLearningRate);
  cpu::TensorSeries(k, kFirstParam, kCycle).ForEachPiece([&](int i, int64_t begin, int64_t end) {
    VisitFloat(k.in_spec(i).dtype, [&]<class T>(TypeTag<T>) {
      T* p = k.inout<T>(i + kParam) + begin;
      const T* g = k.in<T>(i + kGrad) + begin;
      if (a.momentum == 0) return Plain(p, g, end - begin, lr, a.weight_decay);
      const int64_t* step = k.in<int64_t>(i + kStep);
      const SgdCoefficients c = SgdCoefficientsOf(a, lr, step != nullptr && *step == 0);
      WithVelocity(p, g, k.inout<T>(i + kVelocity) + begin, end - begin, c);
    });
  });
  cpu::CountSteps(k, kCycle, kStep);
  return absl::OkStatus();
}

FIRN_REGISTER_OP(sgd_step) {
  return {
      .doc =
          "One step of gradient descent with momentum for all parameters, in place. Not "
          "differentiable.",
      .inputs = {{.name = "lr", .dtypes = kFloating, .max_rank = 0},
                 {.name = "skip", .dtypes = SetOf(DType::kBool), .max_rank = 0, .optional = true},
                 {.name = "param", .dtypes = kFloating, .inout = true, .variadic = true},
                 {.name = "grad", .same_dtype_as = "param", .variadic = true},
                 {.name = "momentum_buffer",
                  .same_dtype_as = "param",
                  .optional = true,
                  .inout = true,
                  .variadic = true},
                 {.name = "step",
                  .dtypes = SetOf(DType::kI64),
                  .max_rank = 0,
                  .optional = true,
                  .inout = true,
                  .variadic = true}},
      .attrs = AttrsOf<SgdStepAttrs>(),
      .infer = Infer,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

void inner::SgdStep(const Tensor& param, const Tensor& grad, const Tensor& velocity,
                    const Tensor& lr, const Tensor& step, const SgdStepAttrs& attrs) {
  SgdStep({{param, grad, velocity, step}}, lr, attrs);
}

void inner::SgdStep(absl::Span<const SgdStepSlot> slots, const Tensor& lr,
                    const SgdStepAttrs& attrs, const Tensor& skip) {
  std::vector<TensorRef> in = {lr, skip};
  in.reserve(kFirstParam + slots.size() * kCycle);
  for (const SgdStepSlot& s : slots) in.insert(in.end(), {s.param, s.grad, s.velocity, s.step});
  Apply(TheOp<"sgd_step">(), in, attrs);
}

}  // namespace firn
