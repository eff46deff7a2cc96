// logical_xor: of x != 0 and y != 0.

#include "tensor/ops/logical_xor.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/logical_xor_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(logical_xor) {
  return cpu::BinaryPredicateOp<LogicalXorFn>(
      "logical_xor", "Whether just one of x and y is not 0. Not differentiable.");
}

}  // namespace

Tensor LogicalXor(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("logical_xor");
  return ApplyCompared(op, x, y);
}

}  // namespace firn
