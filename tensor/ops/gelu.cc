// gelu: in both forms one pass each way.

#include "tensor/ops/gelu.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/add.h"
#include "tensor/ops/exp.h"
#include "tensor/ops/gelu_fn.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sigmoid.h"
#include "tensor/ops/square.h"
#include "tensor/ops/sub.h"

namespace firn {
namespace {

bool IsTanh(const GeluAttrs& a) { return a.approximate == GeluApproximate::kTanh; }

absl::Status Run(KernelContext& k) {
  return IsTanh(k.attrs<GeluAttrs>()) ? cpu::RunUnaryFloat<GeluTanhFn>(k)
                                      : cpu::RunUnaryFloat<GeluFn>(k);
}

absl::Status RunGrad(KernelContext& k) {
  return IsTanh(k.attrs<GeluAttrs>()) ? cpu::RunBinaryFloat<GeluTanhGradFn>(k)
                                      : cpu::RunBinaryFloat<GeluGradFn>(k);
}

void Grad(GradContext& g) {
  g.set_grad_input(0, GeluGrad(g.grad_output(), g.input(0), g.attrs<GeluAttrs>()));
}

// phi(x) (2 - x^2), phi the normal density.
Tensor SecondDerivative(const Tensor& x) {
  const Tensor x2 = Square(x);
  return Mul(Exp(Mul(x2, -0.5)), Mul(Sub(2, x2), 0.39894228040143268));
}

// Of x s(u(x)): s' = s (1 - s) and s'' = s' (1 - 2 s), so s' (2 u' + x ((1 - 2 s) u'^2 + u'')).
Tensor TanhSecondDerivative(const Tensor& x) {
  const double c1 = GeluCubic::kC1, c3 = GeluCubic::kC3;
  const Tensor x2 = Square(x);
  const Tensor s = Sigmoid(Mul(x, Add(Mul(x2, c3), c1)));
  const Tensor slope = Add(Mul(x2, 3 * c3), c1);
  const Tensor curve = Add(Mul(Sub(1, Mul(s, 2)), Square(slope)), Mul(x, 6 * c3));
  return Mul(Mul(s, Sub(1, s)), Add(Mul(slope, 2), Mul(x, curve)));
}

void GradOfGrad(GradContext& g) {
  const GeluAttrs& a = g.attrs<GeluAttrs>();
  const Tensor& x = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, GeluGrad(g.grad_output(), x, a));
  if (!g.needs(1)) return;
  const Tensor second = IsTanh(a) ? TanhSecondDerivative(x) : SecondDerivative(x);
  g.set_grad_input(1, Mul(Mul(g.grad_output(), g.input(0)), second));
}

FIRN_REGISTER_OP(gelu) {
  OpDef op =
      cpu::FloatOp<GeluFn>("gelu", "x * P(X <= x) for standard normal X.", Grad, {Saved::Input(0)});
  op.attrs = AttrsOf<GeluAttrs>();
  op.kernels = {cpu::ElementwiseKernel(Run)};
  return op;
}
FIRN_REGISTER_OP(gelu_grad) {
  OpDef op = cpu::GradOp<GeluGradFn>("gelu_grad", "The gradient of gelu.", "x", GradOfGrad,
                                     {Saved::Input(0), Saved::Input(1)});
  op.attrs = AttrsOf<GeluAttrs>();
  op.kernels = {cpu::ElementwiseKernel(RunGrad)};
  return op;
}

}  // namespace

Tensor Gelu(const Tensor& x, GeluApproximate approximate) {
  static const OpDef& op = Op("gelu");
  return ApplyFloating(op, x, GeluAttrs{approximate});
}
Tensor inner::GeluGrad(const Tensor& dy, const Tensor& x, const GeluAttrs& attrs) {
  static const OpDef& op = Op("gelu_grad");
  return Apply1(op, {dy, x}, attrs);
}

}  // namespace firn
