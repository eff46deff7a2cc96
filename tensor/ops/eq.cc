// eq: x == y.

#include "tensor/ops/eq.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/eq_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(eq) {
  return cpu::BinaryPredicateOp<EqFn>("eq", "x == y, broadcast. Not differentiable.");
}

}  // namespace

Tensor Eq(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("eq");
  return ApplyCompared(op, x, y);
}

}  // namespace firn
