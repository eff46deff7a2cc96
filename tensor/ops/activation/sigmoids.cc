// sigmoid: the logistic function. The gradient is computed from the result.
//
// tanh: the gradient is computed from the result.
//
// silu: x sigmoid(x), one pass each way.
//
// gelu: in both forms one pass each way.
//
// softplus: a smooth relu, one pass each way.
//
// mish: x tanh(softplus(x)), its gradient made of the two.
//
// logit: one pass each way, of half types in f32.

#include "firn/tensor/ops/activation/sigmoids.h"

#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/kernels/cpu/vec_math.h"
#include "firn/tensor/ops/activation/sigmoids_fn.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/shape/split.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

// d(y (1 - y)) = (1 - 2 y) dy.
Tensor CurveOfSigmoid(const Tensor& y) { return Sub(1, Mul(y, 2)); }
FIRN_REGISTER_OP(sigmoid) {
  return cpu::FloatOp<SigmoidFn>("1 / (1 + e^-x).", cpu::FromOutput<cpu::GradBy<"sigmoid_grad">>());
}
FIRN_REGISTER_OP(sigmoid_grad) {
  return cpu::GradOp<SigmoidGradFn>("dy * y * (1 - y): the gradient of sigmoid.", "y",
                                    cpu::OfGradient<cpu::GradBy<"sigmoid_grad">, CurveOfSigmoid>());
}

// The slope is sigmoid(-x).
Tensor CurveOfLogSigmoid(const Tensor& x) { return Neg(Mul(Sigmoid(x), Sigmoid(Neg(x)))); }
FIRN_REGISTER_OP(log_sigmoid) {
  return InFullPrecision(cpu::FloatOp<LogSigmoidFn>(
      "log(sigmoid(x)).", cpu::FromInput<cpu::GradBy<"log_sigmoid_grad">>()));
}
FIRN_REGISTER_OP(log_sigmoid_grad) {
  return cpu::GradOp<LogSigmoidGradFn>(
      "dy * sigmoid(-x): the gradient of log_sigmoid.", "x",
      cpu::OfGradient<cpu::GradBy<"log_sigmoid_grad">, CurveOfLogSigmoid>());
}

// d(1 - y^2) = -2 y dy.
Tensor CurveOfTanh(const Tensor& y) { return Mul(y, -2); }
constexpr GraphTraits kTanh = {.activation = FusedActivation::kTanh};
FIRN_REGISTER_OP(tanh) {
  return WithTraits(kTanh, cpu::FloatOp<TanhFn>("The hyperbolic tangent.",
                                                cpu::FromOutput<cpu::GradBy<"tanh_grad">>()));
}
FIRN_REGISTER_OP(tanh_grad) {
  return cpu::GradOp<TanhGradFn>("dy * (1 - y * y): the gradient of tanh.", "y",
                                 cpu::OfGradient<cpu::GradBy<"tanh_grad">, CurveOfTanh>());
}

Tensor GradSoftsign(const Tensor& dy, const Tensor& x) {
  const Tensor size = Add(Abs(x), 1);
  const bool half = ComputeDType(x.dtype()) != x.dtype();  // f16 has no square of 300
  return half ? Div(Div(dy, size), size) : Div(dy, Square(size));
}
FIRN_REGISTER_OP(softsign) {
  return cpu::FloatOp<SoftsignFn>("x / (1 + |x|).", cpu::FromInput<GradSoftsign>());
}

// The second derivative of x s(x) is s (1 - s) (2 + x (1 - 2 s)).
Tensor CurveOfSilu(const Tensor& x) {
  const Tensor s = Sigmoid(x);
  return Mul(Mul(s, Sigmoid(Neg(x))), Add(Mul(x, Sub(1, Mul(s, 2))), 2));
}
FIRN_REGISTER_OP(silu) {
  return cpu::FloatOp<SiluFn>("x * sigmoid(x).", cpu::FromInput<cpu::GradBy<"silu_grad">>());
}
FIRN_REGISTER_OP(silu_grad) {
  return cpu::GradOp<SiluGradFn>("The gradient of silu.", "x",
                                 cpu::OfGradient<cpu::GradBy<"silu_grad">, CurveOfSilu>());
}

bool IsTanh(const GeluAttrs& a) { return a.approximate == GeluApproximate::kTanh; }

struct GeluOnCpuFn : GeluFn {
  template <class T>
  using Vectors = cpu::GeluOfVec<T>;
};
struct GeluGradOnCpuFn : GeluGradFn {
  template <class T>
  using Vectors = cpu::GeluGradOfVec<T>;
};

absl::Status Run(KernelContext& k) {
  return IsTanh(k.attrs<GeluAttrs>()) ? cpu::RunFloat<GeluTanhFn>(k)
                                      : cpu::RunFloat<GeluOnCpuFn>(k);
}

absl::Status RunGrad(KernelContext& k) {
  return IsTanh(k.attrs<GeluAttrs>()) ? cpu::RunFloat<GeluTanhGradFn, 2>(k)
                                      : cpu::RunFloat<GeluGradOnCpuFn, 2>(k);
}

// Beyond it the second derivatives of gelu are 0.
constexpr double kGeluEnd = 64;

// phi(x) (2 - x^2), phi the normal density.
Tensor SecondDerivative(const Tensor& x) {
  const Tensor x2 = Square(Clamp(x, -kGeluEnd, kGeluEnd));
  return Mul(Exp(Mul(x2, -0.5)), Mul(Sub(2, x2), 0.39894228040143268));
}

// The second derivative of x s(u(x)), s' (2 u' + x ((1 - 2 s) u'^2 + u'')), for s' = s (1 - s) and
// s'' = s' (1 - 2 s).
Tensor TanhSecondDerivative(const Tensor& far_x) {
  const double c1 = GeluCubic::kC1, c3 = GeluCubic::kC3;
  const Tensor x = Clamp(far_x, -kGeluEnd, kGeluEnd), x2 = Square(x);
  const Tensor u = Mul(x, Add(Mul(x2, c3), c1)), s = Sigmoid(u);
  const Tensor slope = Add(Mul(x2, 3 * c3), c1);
  const Tensor curve = Add(Mul(Sub(1, Mul(s, 2)), Square(slope)), Mul(x, 6 * c3));
  return Mul(Mul(s, Sigmoid(Neg(u))), Add(Mul(slope, 2), Mul(x, curve)));
}

Tensor CurveOfGelu(const Tensor& x, const GeluAttrs& a) {
  return IsTanh(a) ? TanhSecondDerivative(x) : SecondDerivative(x);
}
FIRN_REGISTER_OP(gelu) {
  OpDef op =
      cpu::FloatOp<GeluFn, GeluOnCpuFn>("x * P(X <= x) for standard normal X.",
                                        cpu::FromInput<cpu::GradBy<"gelu_grad", GeluAttrs>>());
  op.attrs = AttrsOf<GeluAttrs>();
  op.kernels = {cpu::ElementwiseKernel(Run)};
  op.elementwise = cpu::ElementwiseOf<EitherGelu<GeluFn, GeluTanhFn>>();
  return op;
}
FIRN_REGISTER_OP(gelu_grad) {
  OpDef op = cpu::GradOp<GeluGradFn, GeluGradOnCpuFn>(
      "The gradient of gelu.", "x",
      cpu::OfGradient<cpu::GradBy<"gelu_grad", GeluAttrs>, CurveOfGelu>());
  op.attrs = AttrsOf<GeluAttrs>();
  op.kernels = {cpu::ElementwiseKernel(RunGrad)};
  op.elementwise = cpu::ElementwiseOf<EitherGelu<GeluGradFn, GeluTanhGradFn>>();
  return op;
}

// The slope s = sigmoid(beta x) has the derivative beta s (1 - s); beyond the threshold it is 1.
Tensor CurveOfSoftplus(const Tensor& x, const SoftplusAttrs& a) {
  const Tensor u = Mul(x, a.beta), s = Sigmoid(u);
  return Where(Gt(u, a.threshold), 0.0, Mul(Mul(s, Sigmoid(Neg(u))), a.beta));
}
FIRN_REGISTER_OP(softplus) {
  return InFullPrecision(
      cpu::FloatOp<SoftplusFn>("log(1 + e^(beta x)) / beta, linear beyond threshold.",
                               cpu::FromInput<cpu::GradBy<"softplus_grad", SoftplusAttrs>>()));
}
FIRN_REGISTER_OP(softplus_grad) {
  return cpu::GradOp<SoftplusGradFn>(
      "The gradient of softplus.", "x",
      cpu::OfGradient<cpu::GradBy<"softplus_grad", SoftplusAttrs>, CurveOfSoftplus>());
}

// The second derivative of x t with t = tanh(softplus(x)): t' = s (1 - t^2) with s = sigmoid(x),
// and 2 t' + x t'' is t' (2 + x (1 - s - 2 t s)).
Tensor CurveOfMish(const Tensor& far_x) {
  const Tensor x = Clamp(far_x, -0x1p64, 0x1p64);  // twice x is a number, too
  const Tensor s = Sigmoid(x), t = Tanh(Softplus(x));
  const Tensor bend = Sub(Sub(1, s), Mul(Mul(t, s), 2));
  return Mul(Mul(s, Sub(1, Square(t))), Add(Mul(x, bend), 2));
}
FIRN_REGISTER_OP(mish) {
  return cpu::FloatOp<MishFn>("x * tanh(log(1 + e^x)).",
                              cpu::FromInput<cpu::GradBy<"mish_grad">>());
}
FIRN_REGISTER_OP(mish_grad) {
  return cpu::GradOp<MishGradFn>("The gradient of mish.", "x",
                                 cpu::OfGradient<cpu::GradBy<"mish_grad">, CurveOfMish>());
}

// The slope s = 1 / (x (1 - x)) has the derivative (2 x - 1) s^2.
Tensor CurveOfLogit(const Tensor& x, const LogitAttrs& a) {
  const Tensor cut = a.eps < 0 ? Tensor() : LogicalOr(Lt(x, a.eps), Gt(x, 1 - a.eps));
  const Tensor p = cut.defined() ? Where(cut, 0.5, x) : x;  // where the curve is 0
  const Tensor product = Mul(p, Sub(1, p));
  return Div(Div(Sub(Mul(p, 2), 1), product), product);
}
absl::Status CheckEps(double eps) {
  FIRN_RETURN_IF(!(eps >= 0 && eps <= 0.5), InvalidArgument("eps must be in [0, 0.5], got ", eps));
  return absl::OkStatus();
}
absl::Status InferLogit(InferContext& c) {
  const double eps = c.attrs<LogitAttrs>().eps;
  if (eps != LogitAttrs().eps) FIRN_RETURN_IF_ERROR(CheckEps(eps));
  return InferLikeInput(c);
}
FIRN_REGISTER_OP(logit) {
  OpDef op = cpu::FloatOp<LogitFn>("log(x / (1 - x)).",
                                   cpu::FromInput<cpu::GradBy<"logit_grad", LogitAttrs>>());
  op.infer = InferLogit;
  return InFullPrecision(std::move(op));
}
FIRN_REGISTER_OP(logit_grad) {
  return cpu::GradOp<LogitGradFn>(
      "dy / (x * (1 - x)): the gradient of logit.", "x",
      cpu::OfGradient<cpu::GradBy<"logit_grad", LogitAttrs>, CurveOfLogit>());
}

}  // namespace

Tensor Sigmoid(const Tensor& x) { return FloatUnary<"sigmoid">(x); }

Tensor LogSigmoid(const Tensor& x) { return FloatUnary<"log_sigmoid">(x); }

Tensor Glu(const Tensor& x, Integer dim) {
  CheckDefined(x, "glu", "x");
  const absl::StatusOr<int> at = NormalizeDim(dim, x.shape());
  RaiseIfError(at.status(), "glu");
  const int64_t half = x.shape()[*at] / 2;
  if (x.rank() == 0 || x.shape()[*at] != 2 * half) {
    RaiseStatus(InvalidArgument("x ", x.shape().ToString(), " must have an even size in dim ", dim),
                "glu");
  }
  const std::vector<Tensor> parts = Split(x, {half, half}, *at);
  return Mul(parts[0], Sigmoid(parts[1]));
}

Tensor Tanh(const Tensor& x) { return FloatUnary<"tanh">(x); }

Tensor Softsign(const Tensor& x) { return FloatUnary<"softsign">(x); }

Tensor Silu(const Tensor& x) { return FloatUnary<"silu">(x); }

Tensor Gelu(const Tensor& x, GeluApproximate approximate) {
  return FloatUnary<"gelu">(x, GeluAttrs{approximate});
}

Tensor Softplus(const Tensor& x, Real beta, Real threshold) {
  return FloatUnary<"softplus">(x, SoftplusAttrs{beta, threshold});
}

Tensor Mish(const Tensor& x) { return FloatUnary<"mish">(x); }

Tensor Logit(const Tensor& x, std::optional<double> eps) {
  LogitAttrs attrs;
  if (eps) {
    RaiseIfError(CheckEps(*eps), "logit");
    attrs.eps = *eps;
  }
  return FloatUnary<"logit">(x, attrs);
}

}  // namespace firn
