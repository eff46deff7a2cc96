// sub: x - alpha * y.

#include "tensor/ops/sub.h"

#include <cmath>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_ops.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/neg.h"
#include "tensor/ops/sub_fn.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const double alpha = c.attrs<SubAttrs>().alpha;
  const bool whole = alpha == std::trunc(alpha) && std::abs(alpha) < 0x1p53;
  FIRN_RETURN_IF(!IsFloating(c.dtype(0)) && !whole,
                 InvalidArgument("alpha must be whole for integers, got ", alpha));
  return InferBroadcast(c);
}

absl::Status Run(KernelContext& k) {
  return k.attrs<SubAttrs>().alpha == 1 ? cpu::RunBinaryNumeric<SubFn>(k)
                                        : cpu::RunBinaryNumeric<SubScaledFn>(k);
}

void Grad(GradContext& g) {
  const double alpha = g.attrs<SubAttrs>().alpha;
  g.set_grad_input(0, g.grad_output());
  if (!g.needs(1)) return;
  g.set_grad_input(1, alpha == 1 ? Neg(g.grad_output()) : Mul(g.grad_output(), -alpha));
}

FIRN_REGISTER_OP(sub) {
  OpDef op = cpu::BinaryNumericOp<SubScaledFn>("sub", "x - alpha * y, broadcast.", Grad);
  op.infer = Infer;
  op.kernels = {cpu::ElementwiseKernel(Run)};
  return op;
}

}  // namespace

Tensor Sub(const Tensor& x, const Tensor& y, double alpha) {
  static const OpDef& op = Op("sub");
  return ApplyPromoted(op, x, y, SubAttrs{alpha});
}

}  // namespace firn
