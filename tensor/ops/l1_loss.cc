// l1_loss: |x - y|, reduced in the same pass.

#include "tensor/ops/l1_loss.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_loss.h"
#include "tensor/loss_rules.h"
#include "tensor/op.h"
#include "tensor/ops/l1_loss_fn.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sign.h"
#include "tensor/ops/sub.h"

namespace firn {
namespace {

void Grad(GradContext& g) {
  const Tensor flow = LossFlow(g, g.attrs<LossAttrs>().reduction);
  const Tensor sign = Sign(Sub(g.input(0), g.input(1)));
  if (g.needs(0)) g.set_grad_input(0, Mul(sign, flow));
  if (g.needs(1)) g.set_grad_input(1, Mul(sign, Mul(flow, -1)));
}

FIRN_REGISTER_OP(l1_loss) {
  OpDef op = ElementwiseLossOp("l1_loss", "|x - y|, its mean or its sum.");
  op.attrs = AttrsOf<LossAttrs>();
  op.infer = InferElementwiseLoss;
  op.grad = Grad;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = {cpu::ElementwiseLossKernel<L1LossFn>()};
  op.autocast = Autocast::kFull;
  return op;
}

}  // namespace

Tensor L1Loss(const Tensor& x, const Tensor& y, Reduction reduction) {
  static const OpDef& op = Op("l1_loss");
  return Apply1(op, {x, y}, LossAttrs{reduction});
}

}  // namespace firn
