// leaky_relu: two slopes. The input is kept, not the result, whose sign says nothing when alpha is
// negative.

#include "tensor/ops/leaky_relu.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/full.h"
#include "tensor/ops/leaky_relu_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) {
  g.set_grad_input(0, LeakyReluGrad(g.grad_output(), g.input(0), g.attrs<LeakyReluAttrs>()));
}

void GradOfGrad(GradContext& g) {
  if (g.needs(0)) {
    g.set_grad_input(0, LeakyReluGrad(g.grad_output(), g.input(1), g.attrs<LeakyReluAttrs>()));
  }
  if (g.needs(1)) g.set_grad_input(1, ZerosLike(g.grad_output()));
}

FIRN_REGISTER_OP(leaky_relu) {
  return cpu::FloatOp<LeakyReluFn>("leaky_relu", "x where x > 0, else alpha * x.", Grad,
                                   {Saved::Input(0)});
}
FIRN_REGISTER_OP(leaky_relu_grad) {
  return cpu::GradOp<LeakyReluGradFn>(
      "leaky_relu_grad", "dy where x > 0, else alpha * dy: the gradient of leaky_relu.", "x",
      GradOfGrad, {Saved::Input(1)});
}

}  // namespace

Tensor LeakyRelu(const Tensor& x, double alpha) {
  static const OpDef& op = Op("leaky_relu");
  return ApplyFloating(op, x, LeakyReluAttrs{alpha});
}
Tensor inner::LeakyReluGrad(const Tensor& dy, const Tensor& x, const LeakyReluAttrs& attrs) {
  static const OpDef& op = Op("leaky_relu_grad");
  return Apply1(op, {dy, x}, attrs);
}

}  // namespace firn
