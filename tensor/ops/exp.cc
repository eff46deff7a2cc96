// exp: its own derivative, so only the result is kept.

#include "tensor/ops/exp.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/exp_fn.h"
#include "tensor/ops/mul.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, Mul(g.grad_output(), g.output(0))); }

FIRN_REGISTER_OP(exp) {
  return InFullPrecision(cpu::FloatOp<ExpFn>("exp", "e to the power x.", Grad, {Saved::Output(0)}));
}

}  // namespace

Tensor Exp(const Tensor& x) {
  static const OpDef& op = Op("exp");
  return ApplyFloating(op, x);
}

}  // namespace firn
