// sigmoid: the logistic function. The gradient is computed from the result.

#include "tensor/ops/sigmoid.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sigmoid_fn.h"
#include "tensor/ops/sub.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, SigmoidGrad(g.grad_output(), g.output(0))); }

// d(y (1 - y)) = (1 - 2 y) dy.
void GradOfGrad(GradContext& g) {
  const Tensor& y = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, SigmoidGrad(g.grad_output(), y));
  if (g.needs(1)) {
    g.set_grad_input(1, Mul(Mul(g.grad_output(), g.input(0)), Sub(1, Mul(y, 2))));
  }
}

FIRN_REGISTER_OP(sigmoid) {
  return cpu::FloatOp<SigmoidFn>("sigmoid", "1 / (1 + e^-x).", Grad, {Saved::Output(0)});
}
FIRN_REGISTER_OP(sigmoid_grad) {
  return cpu::GradOp<SigmoidGradFn>("sigmoid_grad", "dy * y * (1 - y): the gradient of sigmoid.",
                                    "y", GradOfGrad, {Saved::Input(0), Saved::Input(1)});
}

}  // namespace

Tensor Sigmoid(const Tensor& x) {
  static const OpDef& op = Op("sigmoid");
  return ApplyFloating(op, x);
}
Tensor inner::SigmoidGrad(const Tensor& dy, const Tensor& y) {
  static const OpDef& op = Op("sigmoid_grad");
  return Apply1(op, {dy, y});
}

}  // namespace firn
