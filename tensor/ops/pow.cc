// pow: two operations, one for a tensor of exponents and one for an exponent that is a number,
// which is by far the usual case and has a gradient without logarithms: d(x^p) = p x^(p - 1).

#include "tensor/ops/pow.h"

#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/eq.h"
#include "tensor/ops/full.h"
#include "tensor/ops/ge.h"
#include "tensor/ops/log.h"
#include "tensor/ops/logical_and.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/pow_fn.h"
#include "tensor/ops/square.h"
#include "tensor/ops/sub.h"
#include "tensor/ops/where.h"

namespace firn {
namespace {

struct FastPower {
  double exponent;
  absl::Status (*run)(KernelContext&);
};
constexpr FastPower kFastPowers[] = {{3, cpu::RunUnaryFloat<CubeFn>},
                                     {0.5, cpu::RunUnaryFloat<PowHalfFn>},
                                     {-0.5, cpu::RunUnaryFloat<PowMinusHalfFn>},
                                     {-1, cpu::RunUnaryFloat<PowMinusOneFn>},
                                     {-2, cpu::RunUnaryFloat<PowMinusTwoFn>}};

absl::Status RunNumber(KernelContext& k) {
  for (const FastPower& p : kFastPowers) {
    if (k.attrs<PowNumberAttrs>().exponent == p.exponent) return p.run(k);
  }
  return cpu::RunUnaryFloat<PowNumberFn>(k);
}

// x^p, by cheaper operations where there are some.
Tensor Power(const Tensor& x, double p) {
  return p == 1 ? x : p == 2 ? Square(x) : PowNumber(x, p);
}

void GradOfNumber(GradContext& g) {
  const double p = g.attrs<PowNumberAttrs>().exponent;
  g.set_grad_input(0, p == 0 ? ZerosLike(g.grad_output())
                             : Mul(g.grad_output(), Mul(Power(g.input(0), p - 1), p)));
}

void Grad(GradContext& g) {
  const Tensor &x = g.input(0), &y = g.input(1);
  if (g.needs(0)) {
    const Tensor slope = Mul(y, Pow(x, Sub(y, 1)));
    g.set_grad_input(0, Mul(g.grad_output(), Where(Eq(y, 0), 0.0, slope)));
  }
  if (g.needs(1)) {
    const Tensor slope = Mul(g.output(0), Log(x));
    const Tensor flat = LogicalAnd(Eq(x, 0), Ge(y, 0));
    g.set_grad_input(1, Mul(g.grad_output(), Where(flat, 0.0, slope)));
  }
}

FIRN_REGISTER_OP(pow) {
  return InFullPrecision(
      cpu::BinaryNumericOp<PowFn>("pow", "x to the power y, broadcast.", Grad,
                                  {Saved::Input(0), Saved::Input(1), Saved::Output(0)}));
}
FIRN_REGISTER_OP(pow_number) {
  OpDef op = cpu::FloatOp<PowNumberFn>("pow_number", "x to the power of a number.", GradOfNumber,
                                       {Saved::Input(0)});
  op.kernels = {cpu::ElementwiseKernel(RunNumber)};
  return op;
}

}  // namespace

Tensor inner::PowNumber(const Tensor& x, double exponent) {
  static const OpDef& op = Op("pow_number");
  return ApplyFloating(op, x, PowNumberAttrs{exponent});
}

Tensor Pow(const Tensor& x, const Tensor& y) {
  static const OpDef& op = Op("pow");
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

}  // namespace firn
