// neg: the sign turned.

#include "tensor/ops/neg.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/neg_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, Neg(g.grad_output())); }

FIRN_REGISTER_OP(neg) { return cpu::NumericOp<NegFn>("neg", "-x.", Grad); }

}  // namespace

Tensor Neg(const Tensor& x) {
  static const OpDef& op = Op("neg");
  return Apply1(op, {x});
}

}  // namespace firn
