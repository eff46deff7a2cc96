// softplus: a smooth relu, one pass each way.

#include "tensor/ops/softplus.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/gt.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sigmoid.h"
#include "tensor/ops/softplus_fn.h"
#include "tensor/ops/where.h"

namespace firn {
namespace {

void Grad(GradContext& g) {
  g.set_grad_input(0, SoftplusGrad(g.grad_output(), g.input(0), g.attrs<SoftplusAttrs>()));
}

// The slope s = sigmoid(beta x) has the derivative beta s (1 - s); beyond the threshold it is 1.
void GradOfGrad(GradContext& g) {
  const SoftplusAttrs& a = g.attrs<SoftplusAttrs>();
  const Tensor& x = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, SoftplusGrad(g.grad_output(), x, a));
  if (!g.needs(1)) return;
  const Tensor u = Mul(x, a.beta);
  const Tensor second = Mul(SigmoidGrad(Mul(g.grad_output(), a.beta), Sigmoid(u)), g.input(0));
  g.set_grad_input(1, Where(Gt(u, a.threshold), 0.0, second));
}

FIRN_REGISTER_OP(softplus) {
  return InFullPrecision(cpu::FloatOp<SoftplusFn>(
      "softplus", "log(1 + e^(beta x)) / beta, linear beyond threshold.", Grad, {Saved::Input(0)}));
}
FIRN_REGISTER_OP(softplus_grad) {
  return cpu::GradOp<SoftplusGradFn>("softplus_grad", "The gradient of softplus.", "x", GradOfGrad,
                                     {Saved::Input(0), Saved::Input(1)});
}

}  // namespace

Tensor Softplus(const Tensor& x, double beta, double threshold) {
  static const OpDef& op = Op("softplus");
  return ApplyFloating(op, x, SoftplusAttrs{beta, threshold});
}
Tensor inner::SoftplusGrad(const Tensor& dy, const Tensor& x, const SoftplusAttrs& attrs) {
  static const OpDef& op = Op("softplus_grad");
  return Apply1(op, {dy, x}, attrs);
}

}  // namespace firn
