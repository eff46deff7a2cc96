// sinc: the derivative (cos(pi x) - sinc(x)) / x loses all digits near 0, where its series is used
// instead. Its kernel has both. A recorded gradient consists of operations: there the quotient gets
// a harmless argument near 0, since its own derivative would be NaN.
//
// digamma: the kernel of its gradient has the second derivative of lgamma built in. A recorded
// gradient uses polygamma, which has all derivatives.

#include "firn/tensor/ops/elementwise/special.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/kernels/cpu/vec_math.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/polygamma.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/rounding.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/elementwise/special_fn.h"
#include "firn/tensor/ops/elementwise/trigonometry.h"

namespace firn {
namespace {

struct ErfOnCpuFn : ErfFn {
  template <class T>
  using Vectors = cpu::ErfOfVec<T>;
};

Tensor GradErf(const Tensor& dy, const Tensor& x) {
  return Mul(dy, Mul(Exp(Neg(Square(x))), 1.12837916709551257));  // 2 / sqrt(pi)
}
FIRN_REGISTER_OP(erf) {
  return cpu::FloatOp<ErfFn, ErfOnCpuFn>("The error function.", cpu::FromInput<GradErf>());
}

// The sum over k > 0 of (-1)^k pi^(2k) 2k / (2k + 1)! x^(2k - 1), to 2^-53 for |x| <= 1/8, and so
// are its two next derivatives.
Tensor SincSlopeNear0(const Tensor& x) {
  constexpr double kTerms[] = {
      -3.28986813369645287,    3.24696970113341457,    -1.14451094473250528,
      0.209182782541238404,    -0.0234608103545582364, 0.00178114551637285204,
      -9.76622312631893266e-5, 4.04994784661924424e-6, -1.31484812799919946e-7};
  const Tensor square = Square(x);
  Tensor sum = Mul(square, kTerms[8]);
  for (int i = 7; i > 0; --i) sum = Mul(Add(sum, kTerms[i]), square);
  return Mul(Add(sum, kTerms[0]), x);
}
Tensor GradSinc(const Tensor& dy, const Tensor& x) {
  if (!GradEnabled()) return Apply1(TheOp<"sinc_grad">(), {dy, x});
  const Tensor near = Le(Abs(x), 0.125);
  const Tensor far = Where(near, 1.0, x);
  // Whole turns are subtracted before the product with pi rounds them.
  const Tensor turn = Sub(far, Mul(Round(Mul(far, 0.5)), 2));
  const Tensor slope = Div(Sub(Cos(Mul(turn, 3.14159265358979324)), Sinc(far)), far);
  return Mul(dy, Where(near, SincSlopeNear0(Where(near, x, 0.0)), slope));
}
FIRN_REGISTER_OP(sinc) {
  return cpu::FloatOp<SincFn>("sin(pi x) / (pi x), 1 at 0.", cpu::FromInput<GradSinc>());
}

FIRN_REGISTER_OP(sinc_grad) {
  return cpu::GradOp<SincGradFn>("The gradient of sinc. Not differentiable.", "x", nullptr, {});
}

Tensor GradLgamma(const Tensor& dy, const Tensor& x) { return Mul(dy, Digamma(x)); }
FIRN_REGISTER_OP(lgamma) {
  return InFullPrecision(cpu::FloatOp<LgammaFn>("log |gamma(x)|.", cpu::FromInput<GradLgamma>()));
}

Tensor GradDigamma(const Tensor& dy, const Tensor& x) {
  return GradEnabled() ? Mul(dy, Polygamma(1, x)) : DigammaGrad(dy, x);
}
FIRN_REGISTER_OP(digamma) {
  return InFullPrecision(
      cpu::FloatOp<DigammaFn>("The derivative of lgamma.", cpu::FromInput<GradDigamma>()));
}
FIRN_REGISTER_OP(digamma_grad) {
  return cpu::GradOp<DigammaGradFn>("The gradient of digamma. Not differentiable.", "x", nullptr,
                                    {});
}

}  // namespace

Tensor Erf(const Tensor& x) { return FloatUnary<"erf">(x); }
Tensor Sinc(const Tensor& x) { return FloatUnary<"sinc">(x); }
Tensor Lgamma(const Tensor& x) { return FloatUnary<"lgamma">(x); }
Tensor Digamma(const Tensor& x) { return FloatUnary<"digamma">(x); }
Tensor inner::DigammaGrad(const Tensor& dy, const Tensor& x) {
  return Apply1(TheOp<"digamma_grad">(), {dy, x});
}

}  // namespace firn
