// exp and exp2 keep only their result, which is the derivative, for exp2 up to a factor. The
// derivative of expm1 is computed anew from x, because far below 0 the result is rounded to -1.
//
// logaddexp: the two shares of the gradient are a softmax of x and y; both are 0 where both
// operands are -inf, as for logsumexp.
//
// xlogy: made of operations.

#include "firn/tensor/ops/elementwise/exponential.h"

#include <limits>

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/compare/classify.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential_fn.h"
#include "firn/tensor/ops/elementwise/sign.h"

namespace firn {
namespace {

Tensor GradExp(const Tensor& dy, const Tensor& y) { return Mul(dy, y); }
FIRN_REGISTER_OP(exp) {
  return InFullPrecision(cpu::FloatOp<ExpFn>("e to the power x.", cpu::FromOutput<GradExp>()));
}

Tensor GradExp2(const Tensor& dy, const Tensor& y) { return Mul(dy, Mul(y, 0.693147180559945309)); }
FIRN_REGISTER_OP(exp2) {
  return InFullPrecision(cpu::FloatOp<Exp2Fn>("2 to the power x.", cpu::FromOutput<GradExp2>()));
}

Tensor GradExpm1(const Tensor& dy, const Tensor& x) { return Mul(dy, Exp(x)); }
FIRN_REGISTER_OP(expm1) {
  return InFullPrecision(cpu::FloatOp<Expm1Fn>("e^x - 1.", cpu::FromInput<GradExpm1>()));
}

Tensor GradLog(const Tensor& dy, const Tensor& x) { return Div(dy, x); }
FIRN_REGISTER_OP(log) {
  return InFullPrecision(cpu::FloatOp<LogFn>("The natural logarithm.", cpu::FromInput<GradLog>()));
}

Tensor GradLog1p(const Tensor& dy, const Tensor& x) { return Div(dy, Add(x, 1)); }
FIRN_REGISTER_OP(log1p) {
  return InFullPrecision(cpu::FloatOp<Log1pFn>("log(1 + x).", cpu::FromInput<GradLog1p>()));
}

Tensor GradLog2(const Tensor& dy, const Tensor& x) { return Div(dy, Mul(x, 0.693147180559945309)); }
FIRN_REGISTER_OP(log2) {
  return InFullPrecision(
      cpu::FloatOp<Log2Fn>("The logarithm to base 2.", cpu::FromInput<GradLog2>()));
}

Tensor GradLog10(const Tensor& dy, const Tensor& x) { return Div(dy, Mul(x, 2.30258509299404568)); }
FIRN_REGISTER_OP(log10) {
  return InFullPrecision(
      cpu::FloatOp<Log10Fn>("The logarithm to base 10.", cpu::FromInput<GradLog10>()));
}

void GradLogaddexp(GradContext& g) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const Tensor &x = g.input(0), &y = g.input(1);
  const Tensor none = Eq(g.output(0), kNone);           // both are -inf
  const Tensor difference = Sub(Where(none, 0, x), y);  // finite numbers or one infinity
  const Tensor dz = Where(none, 0, g.grad_output());
  if (g.needs(0)) g.set_grad_input(0, Mul(dz, Sigmoid(difference)));
  if (g.needs(1)) g.set_grad_input(1, Mul(dz, Sigmoid(Neg(difference))));
}
FIRN_REGISTER_OP(logaddexp) {
  return cpu::BinaryFloatOp<LogaddexpFn>("log(e^x + e^y), broadcast.", GradLogaddexp,
                                         {Saved::Input(0), Saved::Input(1), Saved::Output(0)});
}

}  // namespace

Tensor Exp(const Tensor& x) { return FloatUnary<"exp">(x); }
Tensor Exp2(const Tensor& x) { return FloatUnary<"exp2">(x); }
Tensor Expm1(const Tensor& x) { return FloatUnary<"expm1">(x); }
Tensor Log(const Tensor& x) { return FloatUnary<"log">(x); }
Tensor Log1p(const Tensor& x) { return FloatUnary<"log1p">(x); }
Tensor Log2(const Tensor& x) { return FloatUnary<"log2">(x); }
Tensor Log10(const Tensor& x) { return FloatUnary<"log10">(x); }
Tensor Logaddexp(const Tensor& x, const Tensor& y) { return FloatBinary<"logaddexp">(x, y); }

Tensor Xlogy(const Tensor& x, const Tensor& y) {
  const Promoted p = PromoteOperands(x, y, "xlogy", /*to_float=*/true);
  // Where the logarithm would be infinite or NaN, it is replaced by log(1) = 0, whose product with
  // any x is 0.
  const Tensor none = LogicalOr(Le(p.y(), 0), Isinf(p.y()));
  const Tensor masked = LogicalAnd(Eq(p.x(), 0), none);
  return Mul(p.x(), Log(Where(masked, 1.0, p.y())));
}

}  // namespace firn
