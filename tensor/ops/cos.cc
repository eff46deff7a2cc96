// cos: dx = -dy sin(x).

#include "tensor/ops/cos.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/cos_fn.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/neg.h"
#include "tensor/ops/sin.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, Neg(Mul(g.grad_output(), Sin(g.input(0))))); }

FIRN_REGISTER_OP(cos) {
  return cpu::FloatOp<CosFn>("cos", "The cosine of x.", Grad, {Saved::Input(0)});
}

}  // namespace

Tensor Cos(const Tensor& x) {
  static const OpDef& op = Op("cos");
  return ApplyFloating(op, x);
}

}  // namespace firn
