// floor: flat between the steps.

#include "tensor/ops/floor.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/floor_fn.h"
#include "tensor/ops/full.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, ZerosLike(g.grad_output())); }

FIRN_REGISTER_OP(floor) {
  return cpu::NumericOp<FloorFn>("floor", "The largest integer not above x.", Grad);
}

}  // namespace

Tensor Floor(const Tensor& x) {
  static const OpDef& op = Op("floor");
  return Apply1(op, {x});
}

}  // namespace firn
