// ceil: flat between the steps.
//
// floor: flat between the steps.
//
// round: to a multiple of 10^-decimals, by rounding x 10^decimals to an integer. The default
// rounding mode of the processor, ties to even, is assumed.
//
// trunc: flat between the steps.
//
// frac: the part that trunc removes. Whole numbers are constant between their steps, so dx is dy
// itself.

#include "firn/tensor/ops/elementwise/rounding.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/rounding_fn.h"

namespace firn {
namespace {

void GradCeil(GradContext& g) { g.set_grad_input(0, ZerosLike(g.grad_output())); }

FIRN_REGISTER_OP(ceil) {
  return cpu::NumericOp<CeilFn>("The smallest integer not below x.", GradCeil);
}

void GradFloor(GradContext& g) { g.set_grad_input(0, ZerosLike(g.grad_output())); }

FIRN_REGISTER_OP(floor) {
  return cpu::NumericOp<FloorFn>("The largest integer not above x.", GradFloor);
}

absl::Status Infer(InferContext& c) {
  const int64_t decimals = c.attrs<RoundAttrs>().decimals;
  FIRN_RETURN_IF(decimals < 0 && !IsFloating(c.dtype(0)),
                 InvalidArgument("decimals must not be negative for integers, got ", decimals));
  return InferLikeInput(c);
}

void GradRound(GradContext& g) { g.set_grad_input(0, ZerosLike(g.grad_output())); }

FIRN_REGISTER_OP(round) {
  OpDef op = cpu::NumericOp<RoundFn>("x rounded to `decimals` places.", GradRound);
  op.infer = Infer;
  return op;
}

void GradTrunc(GradContext& g) { g.set_grad_input(0, ZerosLike(g.grad_output())); }

FIRN_REGISTER_OP(trunc) { return cpu::NumericOp<TruncFn>("x without its fraction.", GradTrunc); }

void GradFrac(GradContext& g) { g.set_grad_input(0, g.grad_output()); }

FIRN_REGISTER_OP(frac) { return cpu::NumericOp<FracFn>("The fraction of x.", GradFrac); }

}  // namespace

Tensor Ceil(const Tensor& x) { return Apply1(TheOp<"ceil">(), {x}); }

Tensor Floor(const Tensor& x) { return Apply1(TheOp<"floor">(), {x}); }

Tensor Round(const Tensor& x, const RoundAttrs& options) {
  return Apply1(TheOp<"round">(), {x}, options);
}

Tensor Trunc(const Tensor& x) { return Apply1(TheOp<"trunc">(), {x}); }

Tensor Frac(const Tensor& x) { return Apply1(TheOp<"frac">(), {x}); }

}  // namespace firn
