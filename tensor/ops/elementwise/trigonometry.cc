// sin: dx = dy cos(x).
//
// cos: dx = -dy sin(x).

#include "tensor/ops/elementwise/trigonometry.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/elementwise/sign.h"
#include "tensor/ops/elementwise/trigonometry_fn.h"

namespace firn {
namespace {

void GradSin(GradContext& g) { g.set_grad_input(0, Mul(g.grad_output(), Cos(g.input(0)))); }

FIRN_REGISTER_OP(sin) { return cpu::FloatOp<SinFn>("The sine of x.", GradSin, {Saved::Input(0)}); }

void GradCos(GradContext& g) { g.set_grad_input(0, Neg(Mul(g.grad_output(), Sin(g.input(0))))); }

FIRN_REGISTER_OP(cos) {
  return cpu::FloatOp<CosFn>("The cosine of x.", GradCos, {Saved::Input(0)});
}

}  // namespace

Tensor Sin(const Tensor& x) { return ApplyFloating(TheOp<"sin">(), x); }

Tensor Cos(const Tensor& x) { return ApplyFloating(TheOp<"cos">(), x); }

}  // namespace firn
