// rsqrt: dx = -dy y^3 / 2.

#include "tensor/ops/rsqrt.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/rsqrt_fn.h"
#include "tensor/ops/square.h"

namespace firn {
namespace {

void Grad(GradContext& g) {
  const Tensor& y = g.output(0);
  g.set_grad_input(0, Mul(Mul(g.grad_output(), Mul(y, -0.5)), Square(y)));
}

FIRN_REGISTER_OP(rsqrt) {
  return InFullPrecision(cpu::FloatOp<RsqrtFn>("rsqrt", "1 / sqrt(x).", Grad, {Saved::Output(0)}));
}

}  // namespace

Tensor Rsqrt(const Tensor& x) {
  static const OpDef& op = Op("rsqrt");
  return ApplyFloating(op, x);
}

}  // namespace firn
