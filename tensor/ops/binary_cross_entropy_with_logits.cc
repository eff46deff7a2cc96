// binary_cross_entropy_with_logits: max(x, 0) - x target + log(1 + exp(-|x|)), reduced in the same
// pass. The derivative is sigmoid(x) - target. With a weight w for positive targets the loss is
// (1 - target) x + (1 + (w - 1) target) log(1 + exp(-x)), where the last factor is the loss of x
// with target 1.

#include "tensor/ops/binary_cross_entropy_with_logits.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_loss.h"
#include "tensor/loss_rules.h"
#include "tensor/op.h"
#include "tensor/ops/add.h"
#include "tensor/ops/binary_cross_entropy_with_logits_fn.h"
#include "tensor/ops/full.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/neg.h"
#include "tensor/ops/sigmoid.h"
#include "tensor/ops/sub.h"

namespace firn {
namespace {

void Grad(GradContext& g) {
  const Tensor flow = LossFlow(g, g.attrs<LossAttrs>().reduction);
  if (g.needs(0)) g.set_grad_input(0, Mul(flow, Sub(Sigmoid(g.input(0)), g.input(1))));
  if (g.needs(1)) g.set_grad_input(1, Neg(Mul(flow, g.input(0))));
}

FIRN_REGISTER_OP(binary_cross_entropy_with_logits) {
  OpDef op = ElementwiseLossOp("binary_cross_entropy_with_logits",
                               "The binary cross entropy of sigmoid(x) and target.", "x", "target");
  op.attrs = AttrsOf<LossAttrs>();
  op.infer = InferElementwiseLoss;
  op.grad = Grad;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = {cpu::ElementwiseLossKernel<BinaryCrossEntropyWithLogitsFn>()};
  op.autocast = Autocast::kFull;
  return op;
}

}  // namespace

Tensor BinaryCrossEntropyWithLogits(const Tensor& x, const Tensor& target,
                                    const BinaryCrossEntropyWithLogitsOptions& options) {
  static const OpDef& op = Op("binary_cross_entropy_with_logits");
  const Tensor &weight = options.weight, &pos_weight = options.pos_weight;
  if (!weight.defined() && !pos_weight.defined()) {
    return Apply1(op, {x, target}, LossAttrs{options.reduction});
  }
  const LossAttrs each{Reduction::kNone};
  Tensor losses = Apply1(op, {x, target}, each);  // checks x and target
  if (pos_weight.defined()) {
    const Tensor of_positive = Apply1(op, {x, OnesLike(x)}, each);
    losses = Add(Mul(Sub(1, target), x), Mul(Add(Mul(Sub(pos_weight, 1), target), 1), of_positive));
  }
  return ReduceLoss(losses, weight, options.reduction, op.name);
}

}  // namespace firn
