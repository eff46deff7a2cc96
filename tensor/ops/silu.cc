// silu: x sigmoid(x), one pass each way.

#include "tensor/ops/silu.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/add.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sigmoid.h"
#include "tensor/ops/silu_fn.h"
#include "tensor/ops/sub.h"

namespace firn {
namespace {

void Grad(GradContext& g) { g.set_grad_input(0, SiluGrad(g.grad_output(), g.input(0))); }

// The second derivative of x s(x) is s (1 - s) (2 + x (1 - 2 s)).
void GradOfGrad(GradContext& g) {
  const Tensor& x = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, SiluGrad(g.grad_output(), x));
  if (!g.needs(1)) return;
  const Tensor s = Sigmoid(x);
  const Tensor second = Mul(Mul(s, Sub(1, s)), Add(Mul(x, Sub(1, Mul(s, 2))), 2));
  g.set_grad_input(1, Mul(Mul(g.grad_output(), g.input(0)), second));
}

FIRN_REGISTER_OP(silu) {
  return cpu::FloatOp<SiluFn>("silu", "x * sigmoid(x).", Grad, {Saved::Input(0)});
}
FIRN_REGISTER_OP(silu_grad) {
  return cpu::GradOp<SiluGradFn>("silu_grad", "The gradient of silu.", "x", GradOfGrad,
                                 {Saved::Input(0), Saved::Input(1)});
}

}  // namespace

Tensor Silu(const Tensor& x) {
  static const OpDef& op = Op("silu");
  return ApplyFloating(op, x);
}
Tensor inner::SiluGrad(const Tensor& dy, const Tensor& x) {
  static const OpDef& op = Op("silu_grad");
  return Apply1(op, {dy, x});
}

}  // namespace firn
