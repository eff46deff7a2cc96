// le: x <= y.

#include "tensor/ops/le.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/le_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(le) {
  return cpu::BinaryPredicateOp<LeFn>("le", "x <= y, broadcast. Not differentiable.");
}

}  // namespace

Tensor Le(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("le");
  return ApplyCompared(op, x, y);
}

}  // namespace firn
