// Integers and bool are always finite; they have loops all the same, so that callers need not
// distinguish dtypes.

#include "firn/tensor/ops/compare/classify.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/compare/classify_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(isnan) {
  return cpu::UnaryPredicateOp<IsnanFn>("Whether x is NaN. Not differentiable.");
}

FIRN_REGISTER_OP(isinf) {
  return cpu::UnaryPredicateOp<IsinfFn>("Whether x is infinite. Not differentiable.");
}

FIRN_REGISTER_OP(isfinite) {
  return cpu::UnaryPredicateOp<IsfiniteFn>("Whether x is finite. Not differentiable.");
}

}  // namespace

Tensor Isnan(const Tensor& x) { return Apply1(TheOp<"isnan">(), {x}); }
Tensor Isinf(const Tensor& x, const IsinfOptions& options) {
  return Apply1(TheOp<"isinf">(), {x}, options);
}
Tensor Isfinite(const Tensor& x) { return Apply1(TheOp<"isfinite">(), {x}); }

}  // namespace firn
