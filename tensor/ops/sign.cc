// sign: the number of signs: (x > 0) - (x < 0).

#include "tensor/ops/sign.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/full.h"
#include "tensor/ops/sign_fn.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, ZerosLike(g.grad_output())); }

FIRN_REGISTER_OP(sign) { return cpu::NumericOp<SignFn>("sign", "-1, 0 or 1.", Grad); }

}  // namespace

Tensor Sign(const Tensor& x) {
  static const OpDef& op = Op("sign");
  return Apply1(op, {x});
}

}  // namespace firn
