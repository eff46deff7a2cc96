// expm1: dx = dy (y + 1).

#include "tensor/ops/expm1.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/add.h"
#include "tensor/ops/expm1_fn.h"
#include "tensor/ops/mul.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, Mul(g.grad_output(), Add(g.output(0), 1))); }

FIRN_REGISTER_OP(expm1) {
  return InFullPrecision(cpu::FloatOp<Expm1Fn>("expm1", "e^x - 1.", Grad, {Saved::Output(0)}));
}

}  // namespace

Tensor Expm1(const Tensor& x) {
  static const OpDef& op = Op("expm1");
  return ApplyFloating(op, x);
}

}  // namespace firn
