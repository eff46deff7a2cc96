// logical_or: of x != 0 and y != 0.

#include "tensor/ops/logical_or.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/logical_or_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(logical_or) {
  return cpu::BinaryPredicateOp<LogicalOrFn>("logical_or",
                                             "Whether x or y is not 0. Not differentiable.");
}

}  // namespace

Tensor LogicalOr(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("logical_or");
  return ApplyCompared(op, x, y);
}

}  // namespace firn
