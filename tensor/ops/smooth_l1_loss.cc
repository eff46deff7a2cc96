// smooth_l1_loss: a parabola near 0 and |d| - beta / 2 outside, reduced in the same pass. The
// derivative is d / beta cut off at -1 and 1.

#include "tensor/ops/smooth_l1_loss.h"

#include <cmath>

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_loss.h"
#include "tensor/loss_rules.h"
#include "tensor/op.h"
#include "tensor/ops/clamp.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sign.h"
#include "tensor/ops/smooth_l1_loss_fn.h"
#include "tensor/ops/sub.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const SmoothL1LossAttrs& a = c.attrs<SmoothL1LossAttrs>();
  FIRN_RETURN_IF(!(a.beta >= 0) || std::isinf(a.beta),
                 InvalidArgument("beta must be at least 0 and finite, got ", a.beta));
  FIRN_RETURN_IF_ERROR(CheckReduction(a.reduction));
  return InferElementwiseLoss(c, a.reduction);
}

void Grad(GradContext& g) {
  const SmoothL1LossAttrs& a = g.attrs<SmoothL1LossAttrs>();
  const Tensor flow = LossFlow(g, a.reduction);
  const Tensor d = Sub(g.input(0), g.input(1));
  const Tensor dx =
      a.beta == 0 ? Mul(Sign(d), flow) : Mul(Clamp(d, -a.beta, a.beta), Mul(flow, 1 / a.beta));
  if (g.needs(0)) g.set_grad_input(0, dx);
  if (g.needs(1)) g.set_grad_input(1, Mul(dx, -1));
}

FIRN_REGISTER_OP(smooth_l1_loss) {
  OpDef op = ElementwiseLossOp("smooth_l1_loss",
                               "The squared difference where it is small, else the absolute one.");
  op.attrs = AttrsOf<SmoothL1LossAttrs>();
  op.infer = Infer;
  op.grad = Grad;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = {cpu::ElementwiseLossKernel<SmoothL1LossFn>()};
  op.autocast = Autocast::kFull;
  return op;
}

}  // namespace

Tensor SmoothL1Loss(const Tensor& x, const Tensor& y, const SmoothL1LossAttrs& options) {
  static const OpDef& op = Op("smooth_l1_loss");
  return Apply1(op, {x, y}, options);
}

}  // namespace firn
