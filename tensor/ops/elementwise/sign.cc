// abs: dx = dy sign(x), so 0 at 0.
//
// neg: the sign turned.
//
// sign: the number of signs: (x > 0) - (x < 0).
//
// copysign: bits of two numbers.

#include "firn/tensor/ops/elementwise/sign.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/sign_fn.h"

namespace firn {
namespace {

void GradAbs(GradContext& g) { g.set_grad_input(0, Mul(g.grad_output(), Sign(g.input(0)))); }

FIRN_REGISTER_OP(abs) { return cpu::NumericOp<AbsFn>("|x|.", GradAbs, {Saved::Input(0)}); }

void GradNeg(GradContext& g) { g.set_grad_input(0, Neg(g.grad_output())); }

FIRN_REGISTER_OP(neg) { return cpu::NumericOp<NegFn>("-x.", GradNeg); }

void GradSign(GradContext& g) { g.set_grad_input(0, ZerosLike(g.grad_output())); }

FIRN_REGISTER_OP(sign) { return cpu::NumericOp<SignFn>("-1, 0 or 1.", GradSign); }

// dz / dx is 1 or -1: whether the sign changed.
void GradCopysign(GradContext& g) {
  if (g.needs(0)) {
    g.set_grad_input(0, Mul(g.grad_output(), Mul(Sign(g.input(0)), Sign(g.output(0)))));
  }
  if (g.needs(1)) g.set_grad_input(1, ZerosLike(g.grad_output()));
}

FIRN_REGISTER_OP(copysign) {
  return cpu::BinaryFloatOp<CopysignFn>("|x| with the sign of y, broadcast.", GradCopysign,
                                        {Saved::Input(0), Saved::Output(0)});
}

}  // namespace

Tensor Abs(const Tensor& x) { return Apply1(TheOp<"abs">(), {x}); }

Tensor Neg(const Tensor& x) { return Apply1(TheOp<"neg">(), {x}); }

Tensor Sign(const Tensor& x) { return Apply1(TheOp<"sign">(), {x}); }

Tensor Copysign(const Tensor& x, const Tensor& y) { return FloatBinary<"copysign">(x, y); }

}  // namespace firn
