// elu and its scaled forms (selu, celu), one pass each way. The input is kept: the result does not
// tell the sides apart when alpha is negative.

#include "tensor/ops/elu.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/clamp.h"
#include "tensor/ops/elu_fn.h"
#include "tensor/ops/exp.h"
#include "tensor/ops/le.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/where.h"

namespace firn {
namespace {

void Grad(GradContext& g) {
  g.set_grad_input(0, EluGrad(g.grad_output(), g.input(0), g.attrs<EluAttrs>()));
}

// On the left e^(c x) has the derivative c e^(c x), on the right the slope is constant. The clamp
// keeps e^(c x) finite on the right, where it is not used.
void GradOfGrad(GradContext& g) {
  const EluAttrs& a = g.attrs<EluAttrs>();
  const Tensor& x = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, EluGrad(g.grad_output(), x, a));
  if (!g.needs(1)) return;
  const double factor = a.scale * a.alpha * a.input_scale * a.input_scale;
  const Tensor e = Exp(Mul(Clamp(x, {}, 0.0), a.input_scale));
  const Tensor left = Mul(Mul(Mul(g.grad_output(), g.input(0)), factor), e);
  g.set_grad_input(1, Where(Le(x, 0), left, 0.0));
}

FIRN_REGISTER_OP(elu) {
  return cpu::FloatOp<EluFn>("elu",
                             "scale * (x where x > 0, else alpha * (e^(x * input_scale) - 1)).",
                             Grad, {Saved::Input(0)});
}
FIRN_REGISTER_OP(elu_grad) {
  return cpu::GradOp<EluGradFn>("elu_grad", "The gradient of elu.", "x", GradOfGrad,
                                {Saved::Input(0), Saved::Input(1)});
}

}  // namespace

Tensor Elu(const Tensor& x, double alpha) { return ScaledElu(x, {.alpha = alpha}); }
Tensor inner::ScaledElu(const Tensor& x, const EluAttrs& attrs) {
  static const OpDef& op = Op("elu");
  return ApplyFloating(op, x, attrs);
}
Tensor inner::EluGrad(const Tensor& dy, const Tensor& x, const EluAttrs& attrs) {
  static const OpDef& op = Op("elu_grad");
  return Apply1(op, {dy, x}, attrs);
}

}  // namespace firn
