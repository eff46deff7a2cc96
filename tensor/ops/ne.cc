// ne: x != y.

#include "tensor/ops/ne.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/ne_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(ne) {
  return cpu::BinaryPredicateOp<NeFn>("ne", "x != y, broadcast. Not differentiable.");
}

}  // namespace

Tensor Ne(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("ne");
  return ApplyCompared(op, x, y);
}

}  // namespace firn
