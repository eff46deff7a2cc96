// relu: max(x, 0). The gradient needs only the result, which the next layer keeps anyway.

#include "tensor/ops/relu.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/full.h"
#include "tensor/ops/relu_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, ReluGrad(g.grad_output(), g.output(0))); }

void GradOfGrad(GradContext& g) {
  if (g.needs(0)) g.set_grad_input(0, ReluGrad(g.grad_output(), g.input(1)));
  if (g.needs(1)) g.set_grad_input(1, ZerosLike(g.grad_output()));
}

FIRN_REGISTER_OP(relu) {
  return cpu::NumericOp<ReluFn>("relu", "max(x, 0).", Grad, {Saved::Output(0)});
}
FIRN_REGISTER_OP(relu_grad) {
  return cpu::GradOp<ReluGradFn>("relu_grad", "dy where y > 0, else 0: the gradient of relu.", "y",
                                 GradOfGrad, {Saved::Input(1)});
}

}  // namespace

Tensor Relu(const Tensor& x) {
  static const OpDef& op = Op("relu");
  return Apply1(op, {x});
}
Tensor inner::ReluGrad(const Tensor& dy, const Tensor& y) {
  static const OpDef& op = Op("relu_grad");
  return Apply1(op, {dy, y});
}

}  // namespace firn
