// sin: dx = dy cos(x).

#include "tensor/ops/sin.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/cos.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sin_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, Mul(g.grad_output(), Cos(g.input(0)))); }

FIRN_REGISTER_OP(sin) {
  return cpu::FloatOp<SinFn>("sin", "The sine of x.", Grad, {Saved::Input(0)});
}

}  // namespace

Tensor Sin(const Tensor& x) {
  static const OpDef& op = Op("sin");
  return ApplyFloating(op, x);
}

}  // namespace firn
