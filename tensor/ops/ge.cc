// ge: x >= y.

#include "tensor/ops/ge.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/ge_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(ge) {
  return cpu::BinaryPredicateOp<GeFn>("ge", "x >= y, broadcast. Not differentiable.");
}

}  // namespace

Tensor Ge(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("ge");
  return ApplyCompared(op, x, y);
}

}  // namespace firn
