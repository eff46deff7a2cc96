// round: to a multiple of 10^-decimals, by rounding x 10^decimals to an integer. The default
// rounding mode of the processor, ties to even, is assumed.

#include "tensor/ops/round.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/full.h"
#include "tensor/ops/round_fn.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const int64_t decimals = c.attrs<RoundAttrs>().decimals;
  FIRN_RETURN_IF(decimals < 0 && !IsFloating(c.dtype(0)),
                 InvalidArgument("decimals must not be negative for integers, got ", decimals));
  return InferLikeInput(c);
}

void Grad(GradContext& g) { g.set_grad_input(0, ZerosLike(g.grad_output())); }

FIRN_REGISTER_OP(round) {
  OpDef op = cpu::NumericOp<RoundFn>("round", "x rounded to `decimals` places.", Grad);
  op.infer = Infer;
  return op;
}

}  // namespace

Tensor Round(const Tensor& x, const RoundAttrs& options) {
  static const OpDef& op = Op("round");
  return Apply1(op, {x}, options);
}

}  // namespace firn
