// Each gradient is the textbook's. 1 - x^2 and x^2 - 1 are products, which keep their digits where
// x is near 1. Arcs are in trigonometry_arc.cc, so that both files compile quickly.

#include "firn/tensor/ops/elementwise/trigonometry.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/elementwise/trigonometry_fn.h"

namespace firn {
namespace {

Tensor GradSin(const Tensor& dy, const Tensor& x) { return Mul(dy, Cos(x)); }
FIRN_REGISTER_OP(sin) { return cpu::FloatOp<SinFn>("The sine of x.", cpu::FromInput<GradSin>()); }

Tensor GradCos(const Tensor& dy, const Tensor& x) { return Neg(Mul(dy, Sin(x))); }
FIRN_REGISTER_OP(cos) { return cpu::FloatOp<CosFn>("The cosine of x.", cpu::FromInput<GradCos>()); }

Tensor GradTan(const Tensor& dy, const Tensor& y) { return Mul(dy, Add(Square(y), 1)); }
FIRN_REGISTER_OP(tan) {
  return InFullPrecision(cpu::FloatOp<TanFn>("The tangent of x.", cpu::FromOutput<GradTan>()));
}

Tensor GradSinh(const Tensor& dy, const Tensor& x) { return Mul(dy, Cosh(x)); }
FIRN_REGISTER_OP(sinh) {
  return InFullPrecision(cpu::FloatOp<SinhFn>("The hyperbolic sine.", cpu::FromInput<GradSinh>()));
}

Tensor GradCosh(const Tensor& dy, const Tensor& x) { return Mul(dy, Sinh(x)); }
FIRN_REGISTER_OP(cosh) {
  return InFullPrecision(
      cpu::FloatOp<CoshFn>("The hyperbolic cosine.", cpu::FromInput<GradCosh>()));
}

// The root of x^2 + 1 whose square stays in the range.
Tensor GradAsinh(const Tensor& dy, const Tensor& x) { return Div(dy, Hypot(x, 1)); }
FIRN_REGISTER_OP(asinh) {
  return cpu::FloatOp<AsinhFn>("The inverse hyperbolic sine.", cpu::FromInput<GradAsinh>());
}

Tensor GradAcosh(const Tensor& dy, const Tensor& x) {
  return Mul(dy, Mul(Rsqrt(Sub(x, 1)), Rsqrt(Add(x, 1))));  // no square leaves the range
}
FIRN_REGISTER_OP(acosh) {
  return cpu::FloatOp<AcoshFn>("The inverse hyperbolic cosine.", cpu::FromInput<GradAcosh>());
}

Tensor GradAtanh(const Tensor& dy, const Tensor& x) { return Div(dy, Mul(Sub(1, x), Add(x, 1))); }
FIRN_REGISTER_OP(atanh) {
  return cpu::FloatOp<AtanhFn>("The inverse hyperbolic tangent.", cpu::FromInput<GradAtanh>());
}

}  // namespace

Tensor Sin(const Tensor& x) { return FloatUnary<"sin">(x); }
Tensor Cos(const Tensor& x) { return FloatUnary<"cos">(x); }
Tensor Tan(const Tensor& x) { return FloatUnary<"tan">(x); }
Tensor Sinh(const Tensor& x) { return FloatUnary<"sinh">(x); }
Tensor Cosh(const Tensor& x) { return FloatUnary<"cosh">(x); }
Tensor Asinh(const Tensor& x) { return FloatUnary<"asinh">(x); }
Tensor Acosh(const Tensor& x) { return FloatUnary<"acosh">(x); }
Tensor Atanh(const Tensor& x) { return FloatUnary<"atanh">(x); }

}  // namespace firn
