// sigmoid: the logistic function. The gradient is computed from the result.
//
// tanh: the gradient is computed from the result.
//
// silu: x sigmoid(x), one pass each way.
//
// gelu: in both forms one pass each way.
//
// softplus: a smooth relu, one pass each way.

#include "tensor/ops/activation/sigmoids.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/activation/sigmoids_fn.h"
#include "tensor/ops/compare/compare.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/elementwise/choose.h"
#include "tensor/ops/elementwise/exponential.h"
#include "tensor/ops/elementwise/power.h"

namespace firn {
namespace {

void GradSigmoid(GradContext& g) { g.set_grad_input(0, SigmoidGrad(g.grad_output(), g.output(0))); }

// d(y (1 - y)) = (1 - 2 y) dy.
void GradOfGradSigmoid(GradContext& g) {
  const Tensor& y = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, SigmoidGrad(g.grad_output(), y));
  if (g.needs(1)) {
    g.set_grad_input(1, Mul(Mul(g.grad_output(), g.input(0)), Sub(1, Mul(y, 2))));
  }
}

FIRN_REGISTER_OP(sigmoid) {
  return cpu::FloatOp<SigmoidFn>("1 / (1 + e^-x).", GradSigmoid, {Saved::Output(0)});
}
FIRN_REGISTER_OP(sigmoid_grad) {
  return cpu::GradOp<SigmoidGradFn>("dy * y * (1 - y): the gradient of sigmoid.", "y",
                                    GradOfGradSigmoid, {Saved::Input(0), Saved::Input(1)});
}

void GradTanh(GradContext& g) { g.set_grad_input(0, TanhGrad(g.grad_output(), g.output(0))); }

// d(1 - y^2) = -2 y dy.
void GradOfGradTanh(GradContext& g) {
  const Tensor& y = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, TanhGrad(g.grad_output(), y));
  if (g.needs(1)) g.set_grad_input(1, Mul(Mul(g.grad_output(), g.input(0)), Mul(y, -2)));
}

FIRN_REGISTER_OP(tanh) {
  return cpu::FloatOp<TanhFn>("The hyperbolic tangent.", GradTanh, {Saved::Output(0)});
}
FIRN_REGISTER_OP(tanh_grad) {
  return cpu::GradOp<TanhGradFn>("dy * (1 - y * y): the gradient of tanh.", "y", GradOfGradTanh,
                                 {Saved::Input(0), Saved::Input(1)});
}

void GradSilu(GradContext& g) { g.set_grad_input(0, SiluGrad(g.grad_output(), g.input(0))); }

// The second derivative of x s(x) is s (1 - s) (2 + x (1 - 2 s)).
void GradOfGradSilu(GradContext& g) {
  const Tensor& x = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, SiluGrad(g.grad_output(), x));
  if (!g.needs(1)) return;
  const Tensor s = Sigmoid(x);
  const Tensor second = Mul(Mul(s, Sub(1, s)), Add(Mul(x, Sub(1, Mul(s, 2))), 2));
  g.set_grad_input(1, Mul(Mul(g.grad_output(), g.input(0)), second));
}

FIRN_REGISTER_OP(silu) {
  return cpu::FloatOp<SiluFn>("x * sigmoid(x).", GradSilu, {Saved::Input(0)});
}
FIRN_REGISTER_OP(silu_grad) {
  return cpu::GradOp<SiluGradFn>("The gradient of silu.", "x", GradOfGradSilu,
                                 {Saved::Input(0), Saved::Input(1)});
}

bool IsTanh(const GeluAttrs& a) { return a.approximate == GeluApproximate::kTanh; }

absl::Status Run(KernelContext& k) {
  return IsTanh(k.attrs<GeluAttrs>()) ? cpu::RunFloat<GeluTanhFn>(k) : cpu::RunFloat<GeluFn>(k);
}

absl::Status RunGrad(KernelContext& k) {
  return IsTanh(k.attrs<GeluAttrs>()) ? cpu::RunFloat<GeluTanhGradFn, 2>(k)
                                      : cpu::RunFloat<GeluGradFn, 2>(k);
}

void GradGelu(GradContext& g) {
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

void GradOfGradGelu(GradContext& g) {
  const GeluAttrs& a = g.attrs<GeluAttrs>();
  const Tensor& x = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, GeluGrad(g.grad_output(), x, a));
  if (!g.needs(1)) return;
  const Tensor second = IsTanh(a) ? TanhSecondDerivative(x) : SecondDerivative(x);
  g.set_grad_input(1, Mul(Mul(g.grad_output(), g.input(0)), second));
}

FIRN_REGISTER_OP(gelu) {
  OpDef op =
      cpu::FloatOp<GeluFn>("x * P(X <= x) for standard normal X.", GradGelu, {Saved::Input(0)});
  op.attrs = AttrsOf<GeluAttrs>();
  op.kernels = {cpu::ElementwiseKernel(Run)};
  op.elementwise = cpu::ElementwiseOf<EitherGelu<GeluFn, GeluTanhFn>>();
  return op;
}
FIRN_REGISTER_OP(gelu_grad) {
  OpDef op = cpu::GradOp<GeluGradFn>("The gradient of gelu.", "x", GradOfGradGelu,
                                     {Saved::Input(0), Saved::Input(1)});
  op.attrs = AttrsOf<GeluAttrs>();
  op.kernels = {cpu::ElementwiseKernel(RunGrad)};
  op.elementwise = cpu::ElementwiseOf<EitherGelu<GeluGradFn, GeluTanhGradFn>>();
  return op;
}

void GradSoftplus(GradContext& g) {
  g.set_grad_input(0, SoftplusGrad(g.grad_output(), g.input(0), g.attrs<SoftplusAttrs>()));
}

// The slope s = sigmoid(beta x) has the derivative beta s (1 - s); beyond the threshold it is 1.
void GradOfGradSoftplus(GradContext& g) {
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
      "log(1 + e^(beta x)) / beta, linear beyond threshold.", GradSoftplus, {Saved::Input(0)}));
}
FIRN_REGISTER_OP(softplus_grad) {
  return cpu::GradOp<SoftplusGradFn>("The gradient of softplus.", "x", GradOfGradSoftplus,
                                     {Saved::Input(0), Saved::Input(1)});
}

}  // namespace

Tensor Sigmoid(const Tensor& x) { return ApplyFloating(TheOp<"sigmoid">(), x); }
Tensor inner::SigmoidGrad(const Tensor& dy, const Tensor& y) {
  return Apply1(TheOp<"sigmoid_grad">(), {dy, y});
}

Tensor Tanh(const Tensor& x) { return ApplyFloating(TheOp<"tanh">(), x); }
Tensor inner::TanhGrad(const Tensor& dy, const Tensor& y) {
  return Apply1(TheOp<"tanh_grad">(), {dy, y});
}

Tensor Silu(const Tensor& x) { return ApplyFloating(TheOp<"silu">(), x); }
Tensor inner::SiluGrad(const Tensor& dy, const Tensor& x) {
  return Apply1(TheOp<"silu_grad">(), {dy, x});
}

Tensor Gelu(const Tensor& x, GeluApproximate approximate) {
  return ApplyFloating(TheOp<"gelu">(), x, GeluAttrs{approximate});
}
Tensor inner::GeluGrad(const Tensor& dy, const Tensor& x, const GeluAttrs& attrs) {
  return Apply1(TheOp<"gelu_grad">(), {dy, x}, attrs);
}

Tensor Softplus(const Tensor& x, double beta, double threshold) {
  return ApplyFloating(TheOp<"softplus">(), x, SoftplusAttrs{beta, threshold});
}
Tensor inner::SoftplusGrad(const Tensor& dy, const Tensor& x, const SoftplusAttrs& attrs) {
  return Apply1(TheOp<"softplus_grad">(), {dy, x}, attrs);
}

}  // namespace firn
