// logical_and: of x != 0 and y != 0.

#include "tensor/ops/logical_and.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/logical_and_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(logical_and) {
  return cpu::BinaryPredicateOp<LogicalAndFn>(
      "logical_and", "Whether x and y are both not 0. Not differentiable.");
}

}  // namespace

Tensor LogicalAnd(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("logical_and");
  return ApplyCompared(op, x, y);
}

}  // namespace firn
