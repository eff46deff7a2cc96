// tanh: the gradient is computed from the result.

#include "tensor/ops/tanh.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/tanh_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, TanhGrad(g.grad_output(), g.output(0))); }

// d(1 - y^2) = -2 y dy.
void GradOfGrad(GradContext& g) {
  const Tensor& y = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, TanhGrad(g.grad_output(), y));
  if (g.needs(1)) g.set_grad_input(1, Mul(Mul(g.grad_output(), g.input(0)), Mul(y, -2)));
}

FIRN_REGISTER_OP(tanh) {
  return cpu::FloatOp<TanhFn>("tanh", "The hyperbolic tangent.", Grad, {Saved::Output(0)});
}
FIRN_REGISTER_OP(tanh_grad) {
  return cpu::GradOp<TanhGradFn>("tanh_grad", "dy * (1 - y * y): the gradient of tanh.", "y",
                                 GradOfGrad, {Saved::Input(0), Saved::Input(1)});
}

}  // namespace

Tensor Tanh(const Tensor& x) {
  static const OpDef& op = Op("tanh");
  return ApplyFloating(op, x);
}
Tensor inner::TanhGrad(const Tensor& dy, const Tensor& y) {
  static const OpDef& op = Op("tanh_grad");
  return Apply1(op, {dy, y});
}

}  // namespace firn
