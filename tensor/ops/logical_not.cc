// logical_not: x == 0. NaN is not 0.

#include "tensor/ops/logical_not.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/logical_not_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(logical_not) {
  return cpu::UnaryPredicateOp<LogicalNotFn>("logical_not", "x == 0. Not differentiable.");
}

}  // namespace

Tensor LogicalNot(const Tensor& x) {
  static const OpDef& op = Op("logical_not");
  return Apply1(op, {x});
}

}  // namespace firn
