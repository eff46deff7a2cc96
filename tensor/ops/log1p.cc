// log1p: dx = dy / (1 + x).

#include "tensor/ops/log1p.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/add.h"
#include "tensor/ops/div.h"
#include "tensor/ops/log1p_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, Div(g.grad_output(), Add(g.input(0), 1))); }

FIRN_REGISTER_OP(log1p) {
  return InFullPrecision(cpu::FloatOp<Log1pFn>("log1p", "log(1 + x).", Grad, {Saved::Input(0)}));
}

}  // namespace

Tensor Log1p(const Tensor& x) {
  static const OpDef& op = Op("log1p");
  return ApplyFloating(op, x);
}

}  // namespace firn
