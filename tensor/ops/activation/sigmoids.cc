// sigmoid: the logistic function. The gradient is computed from the result.
//
// tanh: the gradient is computed from the result.
//
// logit: one pass each way, of half types in f32.
//
// The other functions of sigmoids.h are in gelu.cc and smooth_rectifiers.cc, so that no file takes
// long to compile.

#include "firn/tensor/ops/activation/sigmoids.h"

#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/activation/sigmoids_fn.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
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
  const bool half = ComputeDType(x.dtype()) != x.dtype();  // the square of 300 exceeds f16
  return half ? Div(Div(dy, size), size) : Div(dy, Square(size));
}
FIRN_REGISTER_OP(softsign) {
  return cpu::FloatOp<SoftsignFn>("x / (1 + |x|).", cpu::FromInput<GradSoftsign>());
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

Tensor Logit(const Tensor& x, std::optional<double> eps) {
  LogitAttrs attrs;
  if (eps) {
    RaiseIfError(CheckEps(*eps), "logit");
    attrs.eps = *eps;
  }
  return FloatUnary<"logit">(x, attrs);
}

}  // namespace firn
