// lt: x < y.

#include "tensor/ops/lt.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/lt_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(lt) {
  return cpu::BinaryPredicateOp<LtFn>("lt", "x < y, broadcast. Not differentiable.");
}

}  // namespace

Tensor Lt(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("lt");
  return ApplyCompared(op, x, y);
}

}  // namespace firn
