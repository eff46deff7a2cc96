// trunc: flat between the steps.

#include "tensor/ops/trunc.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/full.h"
#include "tensor/ops/trunc_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, ZerosLike(g.grad_output())); }

FIRN_REGISTER_OP(trunc) {
  return cpu::NumericOp<TruncFn>("trunc", "x without its fraction.", Grad);
}

}  // namespace

Tensor Trunc(const Tensor& x) {
  static const OpDef& op = Op("trunc");
  return Apply1(op, {x});
}

}  // namespace firn
