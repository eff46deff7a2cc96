// log: dx = dy / x.

#include "tensor/ops/log.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/div.h"
#include "tensor/ops/log_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, Div(g.grad_output(), g.input(0))); }

FIRN_REGISTER_OP(log) {
  return InFullPrecision(
      cpu::FloatOp<LogFn>("log", "The natural logarithm.", Grad, {Saved::Input(0)}));
}

}  // namespace

Tensor Log(const Tensor& x) {
  static const OpDef& op = Op("log");
  return ApplyFloating(op, x);
}

}  // namespace firn
