// straight_through: its first input, with the gradient of its second. The gradient is the rule of
// an operation of its own and not y + (x - x), which would round y.

#include "firn/tensor/ops/activation/straight_through.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/activation/straight_through_fn.h"
#include "firn/tensor/ops/create/constant.h"

namespace firn {
namespace {

void Grad(GradContext& g) {
  if (g.needs(0)) g.set_grad_input(0, ZerosLike(g.grad_output()));
  if (g.needs(1)) g.set_grad_input(1, g.grad_output());
}

FIRN_REGISTER_OP(straight_through) {
  OpDef op = cpu::BinaryFloatOp<StraightThroughFn>("y, with the gradient of x.", Grad);
  op.inputs = {{.name = "y", .dtypes = kFloating}, {.name = "x", .same_dtype_as = "y"}};
  op.may_reuse = {{0, 0}};
  return op;
}

}  // namespace

Tensor StraightThrough(const Tensor& y, const Tensor& x) {
  return Apply1(TheOp<"straight_through">(), {y, x});
}

}  // namespace firn
