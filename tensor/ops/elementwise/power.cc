// pow: two operations, one for a tensor of exponents and one for an exponent that is a number,
// which is by far the usual case and has a gradient without logarithms: d(x^p) = p x^(p - 1).
//
// square: dx = 2 x dy.
//
// sqrt: dx = dy / (2 y).
//
// rsqrt: dx = -dy y^3 / 2.
//
// reciprocal: dx = -dy y^2.
//
// hypot: dx = x dz / z, and 0 for z = 0.

#include "firn/tensor/ops/elementwise/power.h"

#include <cmath>

#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/power_fn.h"
#include "firn/tensor/ops/elementwise/ratio.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn {
namespace {

struct FastPower {
  double exponent;
  absl::Status (*run)(KernelContext&);
};
constexpr FastPower kFastPowers[] = {{3, cpu::RunFloat<CubeFn>},
                                     {0.5, cpu::RunFloat<PowHalfFn>},
                                     {-0.5, cpu::RunFloat<PowMinusHalfFn>},
                                     {-1, cpu::RunFloat<PowMinusOneFn>},
                                     {-2, cpu::RunFloat<PowMinusTwoFn>}};

absl::Status RunNumber(KernelContext& k) {
  for (const FastPower& p : kFastPowers) {
    if (k.attrs<PowNumberAttrs>().exponent == p.exponent) return p.run(k);
  }
  return IsFarOdd(k.attrs<PowNumberAttrs>().exponent) ? cpu::RunFloat<PowFarOddFn>(k)
                                                      : cpu::RunFloat<PowNumberFn>(k);
}

constexpr double kLargestHalf = 65504;

// x^p, by cheaper operations where they exist.
Tensor Power(const Tensor& x, double p) {
  return p == 1 ? x : p == 2 ? Square(x) : PowNumber(x, p);
}

void GradOfNumber(GradContext& g) {
  const double p = g.attrs<PowNumberAttrs>().exponent;
  const Tensor &x = g.input(0), &dy = g.grad_output();
  if (p == 0) return g.set_grad_input(0, ZerosLike(dy));
  if (x.dtype() == DType::kF16 && !(std::abs(p) <= kLargestHalf)) {  // times 0 it is NaN
    const Tensor slope = Mul(Power(Cast(x, DType::kF32), p - 1), p);
    return g.set_grad_input(0, Cast(Mul(Cast(dy, DType::kF32), slope), x.dtype()));
  }
  g.set_grad_input(0, Mul(dy, Mul(Power(x, p - 1), p)));
}

void GradPow(GradContext& g) {
  // Half types do not hold y - 1 for every y that they hold: (-1)^(y - 1) would have another sign.
  const DType wide = ComputeDType(g.input(0).dtype());
  const Tensor x = Cast(g.input(0), wide), y = Cast(g.input(1), wide);
  const Tensor dy = Cast(g.grad_output(), wide);
  // Where a power is flat, its derivatives may contain infinite factors. Harmless numbers replace
  // these before they are used: a mask afterwards would still let derivatives of this become NaN.
  if (g.needs(0)) {
    const bool half = g.input(0).dtype() == DType::kF16, exact = wide == DType::kF64;
    const double near = half ? 0x1p-15 : exact ? 0x1p-1022 : 0x1p-126;  // 1 / x may be infinite.
    const Tensor size = Abs(Detach(x)), none = Eq(y, 0);
    Tensor base = x;
    if (GradEnabled()) {  // its slope, which is multiplied by 0, may not be either
      const double steep = half ? 0x1.01p-8 : exact ? 0x1.01p-512 : 0x1.01p-64;
      base = Where(LogicalAnd(none, Lt(size, steep)), Detach(x), x);
    }
    const Tensor flat = LogicalAnd(none, LogicalNot(Ge(size, near)));
    base = Where(flat, 1.0, base);
    const Tensor slope = Mul(y, Pow(base, Where(flat, 0.0, Sub(y, 1))));
    g.set_grad_input(0, Cast(Mul(dy, slope), g.input(0).dtype()));
  }
  if (g.needs(1)) {
    const Tensor flat = LogicalAnd(Eq(x, 0), Ge(y, 0));
    const Tensor slope = Mul(Cast(g.output(0), wide), Log(Where(flat, 1.0, x)));
    g.set_grad_input(1, Cast(Mul(dy, slope), g.input(1).dtype()));
  }
}

FIRN_REGISTER_OP(pow) {
  return InFullPrecision(
      cpu::BinaryNumericOp<PowFn>("x to the power y, broadcast.", GradPow,
                                  {Saved::Input(0), Saved::Input(1), Saved::Output(0)}));
}
FIRN_REGISTER_OP(pow_number) {
  OpDef op =
      cpu::FloatOp<PowNumberFn>("x to the power of a number.", GradOfNumber, {Saved::Input(0)});
  op.kernels = {cpu::ElementwiseKernel(RunNumber)};
  op.elementwise = cpu::ElementwiseOf<PowAnyNumberFn>();
  return op;
}

// Doubled last, because twice the largest number is infinite.
void GradSquare(GradContext& g) { g.set_grad_input(0, Mul(Mul(g.grad_output(), g.input(0)), 2)); }

FIRN_REGISTER_OP(square) {
  return cpu::NumericOp<SquareFn>("x * x.", GradSquare, {Saved::Input(0)});
}

void GradSqrt(GradContext& g) { g.set_grad_input(0, Div(g.grad_output(), Mul(g.output(0), 2))); }

FIRN_REGISTER_OP(sqrt) {
  return cpu::FloatOp<SqrtFn>("The square root.", GradSqrt, {Saved::Output(0)});
}

void GradRsqrt(GradContext& g) {
  const Tensor& y = g.output(0);
  g.set_grad_input(0, Mul(Mul(g.grad_output(), Mul(y, -0.5)), Square(y)));
}

FIRN_REGISTER_OP(rsqrt) {
  return InFullPrecision(cpu::FloatOp<RsqrtFn>("1 / sqrt(x).", GradRsqrt, {Saved::Output(0)}));
}

void GradReciprocal(GradContext& g) {
  g.set_grad_input(0, Neg(Mul(g.grad_output(), Square(g.output(0)))));
}

FIRN_REGISTER_OP(reciprocal) {
  return InFullPrecision(cpu::FloatOp<ReciprocalFn>("1 / x.", GradReciprocal, {Saved::Output(0)}));
}

void GradHypot(GradContext& g) {
  // Derivatives of this use squares of 1 / z, which half types do not hold.
  const DType dtype = g.input(0).dtype(), wide = GradEnabled() ? ComputeDType(dtype) : dtype;
  const Tensor sides[] = {Cast(g.input(0), wide), Cast(g.input(1), wide)};
  const Tensor z = wide == dtype ? g.output(0) : Hypot(sides[0], sides[1]);
  const Tensor flow = Cast(g.grad_output(), wide);
  for (int i : {0, 1}) {
    if (g.needs(i)) g.set_grad_input(i, Cast(MulRatio(sides[i], flow, z), dtype));
  }
}

FIRN_REGISTER_OP(hypot) {
  return cpu::BinaryFloatOp<HypotFn>("sqrt(x^2 + y^2), broadcast.", GradHypot,
                                     {Saved::Input(0), Saved::Input(1), Saved::Output(0)});
}

}  // namespace

Tensor inner::PowNumber(const Tensor& x, double exponent) {
  return ApplyFloating(TheOp<"pow_number">(), x, PowNumberAttrs{exponent});
}

Tensor Pow(const Tensor& x, const Tensor& y) {
  const OpDef& op = TheOp<"pow">();
  if (!x.defined() || !y.defined() || !y.impl()->weak_number || x.impl()->weak_number) {
    return ApplyPromoted(op, x, y);
  }
  const double exponent = NumberValue(y);
  const DType result = ResultType(x, y);
  if (!IsFloating(result)) {
    if (exponent < 0) {
      RaiseStatus(InvalidArgument("integers have no powers with a negative exponent, got ",
                                  x.spec().ToString(), " to the power ", exponent),
                  op.name);
    }
    return exponent == 2 && result == x.dtype() ? Square(x) : ApplyPromoted(op, x, y);
  }
  const Tensor base = AsDType(x, result);
  return exponent == 2 ? Square(base) : PowNumber(base, exponent);
}

Tensor Square(const Tensor& x) { return Apply1(TheOp<"square">(), {x}); }

Tensor Sqrt(const Tensor& x) { return ApplyFloating(TheOp<"sqrt">(), x); }

Tensor Rsqrt(const Tensor& x) { return ApplyFloating(TheOp<"rsqrt">(), x); }

Tensor Reciprocal(const Tensor& x) { return ApplyFloating(TheOp<"reciprocal">(), x); }

Tensor Hypot(const Tensor& x, const Tensor& y) { return FloatBinary<"hypot">(x, y); }

}  // namespace firn
