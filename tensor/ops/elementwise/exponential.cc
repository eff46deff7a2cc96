// exp: its own derivative, so only the result is kept.
//
// expm1: dx = dy (y + 1).
//
// log: dx = dy / x.
//
// log1p: dx = dy / (1 + x).

#include "tensor/ops/elementwise/exponential.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/elementwise/arithmetic.h"
#include "tensor/ops/elementwise/exponential_fn.h"

namespace firn {
namespace {

void GradExp(GradContext& g) { g.set_grad_input(0, Mul(g.grad_output(), g.output(0))); }

FIRN_REGISTER_OP(exp) {
  return InFullPrecision(cpu::FloatOp<ExpFn>("e to the power x.", GradExp, {Saved::Output(0)}));
}

void GradExpm1(GradContext& g) { g.set_grad_input(0, Mul(g.grad_output(), Add(g.output(0), 1))); }

FIRN_REGISTER_OP(expm1) {
  return InFullPrecision(cpu::FloatOp<Expm1Fn>("e^x - 1.", GradExpm1, {Saved::Output(0)}));
}

void GradLog(GradContext& g) { g.set_grad_input(0, Div(g.grad_output(), g.input(0))); }

FIRN_REGISTER_OP(log) {
  return InFullPrecision(cpu::FloatOp<LogFn>("The natural logarithm.", GradLog, {Saved::Input(0)}));
}

void GradLog1p(GradContext& g) { g.set_grad_input(0, Div(g.grad_output(), Add(g.input(0), 1))); }

FIRN_REGISTER_OP(log1p) {
  return InFullPrecision(cpu::FloatOp<Log1pFn>("log(1 + x).", GradLog1p, {Saved::Input(0)}));
}

}  // namespace

Tensor Exp(const Tensor& x) { return ApplyFloating(TheOp<"exp">(), x); }

Tensor Expm1(const Tensor& x) { return ApplyFloating(TheOp<"expm1">(), x); }

Tensor Log(const Tensor& x) { return ApplyFloating(TheOp<"log">(), x); }

Tensor Log1p(const Tensor& x) { return ApplyFloating(TheOp<"log1p">(), x); }

}  // namespace firn
