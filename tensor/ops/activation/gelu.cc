// gelu: in both forms one pass each way.

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/kernels/cpu/vec_math.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/activation/sigmoids_fn.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/sign.h"

namespace firn {
namespace {

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

}  // namespace

Tensor Gelu(const Tensor& x, GeluApproximate approximate) {
  return FloatUnary<"gelu">(x, GeluAttrs{approximate});
}

}  // namespace firn
