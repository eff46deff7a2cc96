// Smooth relus, one pass each way.
//
// silu: x sigmoid(x).
//
// softplus: log(1 + e^x).
//
// mish: x tanh(softplus(x)), its gradient made of the two.

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/activation/sigmoids_fn.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/sign.h"

namespace firn {
namespace {

// The second derivative of x s(x) is s (1 - s) (2 + x (1 - 2 s)).
Tensor CurveOfSilu(const Tensor& x) {
  const Tensor s = Sigmoid(x);
  return Mul(Mul(s, Sigmoid(Neg(x))), Add(Mul(x, Sub(1, Mul(s, 2))), 2));
}
FIRN_REGISTER_OP(silu) {
  return cpu::FloatOp<SiluFn>("x * sigmoid(x).", cpu::FromInput<cpu::GradBy<"silu_grad">>());
}
FIRN_REGISTER_OP(silu_grad) {
  return cpu::GradOp<SiluGradFn>("The gradient of silu.", "x",
                                 cpu::OfGradient<cpu::GradBy<"silu_grad">, CurveOfSilu>());
}

// The slope s = sigmoid(beta x) has the derivative beta s (1 - s); beyond the threshold it is 1.
Tensor CurveOfSoftplus(const Tensor& x, const SoftplusAttrs& a) {
  const Tensor u = Mul(x, a.beta), s = Sigmoid(u);
  return Where(Gt(u, a.threshold), 0.0, Mul(Mul(s, Sigmoid(Neg(u))), a.beta));
}
FIRN_REGISTER_OP(softplus) {
  return InFullPrecision(
      cpu::FloatOp<SoftplusFn>("log(1 + e^(beta x)) / beta, linear beyond threshold.",
                               cpu::FromInput<cpu::GradBy<"softplus_grad", SoftplusAttrs>>()));
}
FIRN_REGISTER_OP(softplus_grad) {
  return cpu::GradOp<SoftplusGradFn>(
      "The gradient of softplus.", "x",
      cpu::OfGradient<cpu::GradBy<"softplus_grad", SoftplusAttrs>, CurveOfSoftplus>());
}

// The second derivative of x t with t = tanh(softplus(x)): t' = s (1 - t^2) with s = sigmoid(x),
// and 2 t' + x t'' is t' (2 + x (1 - s - 2 t s)).
Tensor CurveOfMish(const Tensor& far_x) {
  const Tensor x = Clamp(far_x, -0x1p64, 0x1p64);  // twice x is a number, too
  const Tensor s = Sigmoid(x), t = Tanh(Softplus(x));
  const Tensor bend = Sub(Sub(1, s), Mul(Mul(t, s), 2));
  return Mul(Mul(s, Sub(1, Square(t))), Add(Mul(x, bend), 2));
}
FIRN_REGISTER_OP(mish) {
  return cpu::FloatOp<MishFn>("x * tanh(log(1 + e^x)).",
                              cpu::FromInput<cpu::GradBy<"mish_grad">>());
}
FIRN_REGISTER_OP(mish_grad) {
  return cpu::GradOp<MishGradFn>("The gradient of mish.", "x",
                                 cpu::OfGradient<cpu::GradBy<"mish_grad">, CurveOfMish>());
}

}  // namespace

Tensor Silu(const Tensor& x) { return FloatUnary<"silu">(x); }

Tensor Softplus(const Tensor& x, Real beta, Real threshold) {
  return FloatUnary<"softplus">(x, SoftplusAttrs{beta, threshold});
}

Tensor Mish(const Tensor& x) { return FloatUnary<"mish">(x); }

}  // namespace firn
