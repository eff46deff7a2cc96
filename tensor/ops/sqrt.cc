// sqrt: dx = dy / (2 y).

#include "tensor/ops/sqrt.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/div.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sqrt_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, Div(g.grad_output(), Mul(g.output(0), 2))); }

FIRN_REGISTER_OP(sqrt) {
  return cpu::FloatOp<SqrtFn>("sqrt", "The square root.", Grad, {Saved::Output(0)});
}

}  // namespace

Tensor Sqrt(const Tensor& x) {
  static const OpDef& op = Op("sqrt");
  return ApplyFloating(op, x);
}

}  // namespace firn
