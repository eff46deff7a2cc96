// gt: x > y.

#include "tensor/ops/gt.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/gt_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(gt) {
  return cpu::BinaryPredicateOp<GtFn>("gt", "x > y, broadcast. Not differentiable.");
}

}  // namespace

Tensor Gt(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("gt");
  return ApplyCompared(op, x, y);
}

}  // namespace firn
