// square: dx = 2 x dy.

#include "tensor/ops/square.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/square_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, Mul(g.grad_output(), Mul(g.input(0), 2))); }

FIRN_REGISTER_OP(square) {
  return cpu::NumericOp<SquareFn>("square", "x * x.", Grad, {Saved::Input(0)});
}

}  // namespace

Tensor Square(const Tensor& x) {
  static const OpDef& op = Op("square");
  return Apply1(op, {x});
}

}  // namespace firn
