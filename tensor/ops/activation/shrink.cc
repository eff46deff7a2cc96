// hardshrink and softshrink have one gradient: dy outside of [-lambda, lambda].
//
// tanhshrink is made of operations.

#include "firn/tensor/ops/activation/shrink.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/ops/activation/shrink_fn.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(shrink_grad) {
  return cpu::GradOp<ShrinkGradFn>("dy where |x| > lambda, else 0: the gradient of both.", "x",
                                   cpu::OfGradient<cpu::GradBy<"shrink_grad", ShrinkAttrs>>());
}

FIRN_REGISTER_OP(hardshrink) {
  return cpu::FloatOp<HardshrinkFn>("x where |x| > lambda, else 0.",
                                    cpu::FromInput<cpu::GradBy<"shrink_grad", ShrinkAttrs>>());
}

absl::Status InferSoftshrink(InferContext& c) {
  const double lambda = c.attrs<ShrinkAttrs>().lambda;
  FIRN_RETURN_IF(!(lambda >= 0), InvalidArgument("lambda must not be negative, got ", lambda));
  return InferLikeInput(c);
}
FIRN_REGISTER_OP(softshrink) {
  OpDef op = cpu::FloatOp<SoftshrinkFn>("x moved towards 0 by lambda.",
                                        cpu::FromInput<cpu::GradBy<"shrink_grad", ShrinkAttrs>>());
  op.infer = InferSoftshrink;
  return op;
}

}  // namespace

Tensor Hardshrink(const Tensor& x, Real lambda) {
  return FloatUnary<"hardshrink">(x, ShrinkAttrs{lambda});
}
Tensor Softshrink(const Tensor& x, Real lambda) {
  return FloatUnary<"softshrink">(x, ShrinkAttrs{lambda});
}
Tensor Tanhshrink(const Tensor& x) { return Sub(x, Tanh(x)); }

}  // namespace firn
