// abs: dx = dy sign(x), so 0 at 0.

#include "tensor/ops/abs.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/abs_fn.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sign.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, Mul(g.grad_output(), Sign(g.input(0)))); }

FIRN_REGISTER_OP(abs) { return cpu::NumericOp<AbsFn>("abs", "|x|.", Grad, {Saved::Input(0)}); }

}  // namespace

Tensor Abs(const Tensor& x) {
  static const OpDef& op = Op("abs");
  return Apply1(op, {x});
}

}  // namespace firn
