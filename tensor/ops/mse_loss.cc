// mse_loss: (x - y)^2, reduced in the same pass.

#include "tensor/ops/mse_loss.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_loss.h"
#include "tensor/loss_rules.h"
#include "tensor/op.h"
#include "tensor/ops/mse_loss_fn.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sub.h"

namespace firn {
namespace {

void Grad(GradContext& g) {
  const Tensor flow = LossFlow(g, g.attrs<LossAttrs>().reduction);
  const Tensor difference = Sub(g.input(0), g.input(1));
  if (g.needs(0)) g.set_grad_input(0, Mul(difference, Mul(flow, 2)));
  if (g.needs(1)) g.set_grad_input(1, Mul(difference, Mul(flow, -2)));
}

FIRN_REGISTER_OP(mse_loss) {
  OpDef op = ElementwiseLossOp("mse_loss", "(x - y)^2, its mean or its sum.");
  op.attrs = AttrsOf<LossAttrs>();
  op.infer = InferElementwiseLoss;
  op.grad = Grad;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = {cpu::ElementwiseLossKernel<MseLossFn>()};
  op.autocast = Autocast::kFull;
  return op;
}

}  // namespace

Tensor MseLoss(const Tensor& x, const Tensor& y, Reduction reduction) {
  static const OpDef& op = Op("mse_loss");
  return Apply1(op, {x, y}, LossAttrs{reduction});
}

}  // namespace firn
