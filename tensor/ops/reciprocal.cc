// reciprocal: dx = -dy y^2.

#include "tensor/ops/reciprocal.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/neg.h"
#include "tensor/ops/reciprocal_fn.h"
#include "tensor/ops/square.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, Neg(Mul(g.grad_output(), Square(g.output(0))))); }

FIRN_REGISTER_OP(reciprocal) {
  return InFullPrecision(
      cpu::FloatOp<ReciprocalFn>("reciprocal", "1 / x.", Grad, {Saved::Output(0)}));
}

}  // namespace

Tensor Reciprocal(const Tensor& x) {
  static const OpDef& op = Op("reciprocal");
  return ApplyFloating(op, x);
}

}  // namespace firn
