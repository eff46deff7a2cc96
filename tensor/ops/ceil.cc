// ceil: flat between the steps.

#include "tensor/ops/ceil.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/ceil_fn.h"
#include "tensor/ops/full.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, ZerosLike(g.grad_output())); }

FIRN_REGISTER_OP(ceil) {
  return cpu::NumericOp<CeilFn>("ceil", "The smallest integer not below x.", Grad);
}

}  // namespace

Tensor Ceil(const Tensor& x) {
  static const OpDef& op = Op("ceil");
  return Apply1(op, {x});
}

}  // namespace firn
