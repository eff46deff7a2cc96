// binary_cross_entropy: of probabilities, reduced in the same pass. Logarithms are cut off at -100
// and the gradient's p (1 - p) at 1e-12, like PyTorch's, so that p = 0 and 1 give finite numbers.
//
// binary_cross_entropy_with_logits: max(x, 0) - x target + log(1 + exp(-|x|)), reduced in the same
// pass. The derivative is sigmoid(x) - target. With a weight w for positive targets the loss is
// (1 - target) x + (1 + (w - 1) target) log(1 + exp(-x)), where the last factor is the loss of x
// with target 1.

#include "firn/tensor/ops/loss/binary.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/elementwise_loss.h"
#include "firn/tensor/kernels/cpu/elementwise_ops.h"
#include "firn/tensor/kernels/cpu/probabilities.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/loss/binary_fn.h"
#include "firn/tensor/ops/loss/binary_grad_fn.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn {
namespace {

absl::Status Run(KernelContext& k) {
  FIRN_RETURN_IF_ERROR(VisitFloat(
      k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) { return cpu::CheckProbabilities<T>(k, 0); }));
  return cpu::RunElementwiseLoss<BinaryCrossEntropyFn>(k);
}

// 1e-12 is 0 in f16.
Tensor Wide(const Tensor& x) { return SizeOf(x.dtype()) == 2 ? Cast(x, DType::kF32) : x; }

// flow: of the losses, one number for all where they were reduced.
Tensor ToProbability(const Tensor& p, const Tensor& target, const Tensor& flow) {
  return Apply1(TheOp<"binary_cross_entropy_grad">(), {p, target, flow});
}

Tensor ToTarget(const Tensor& p, const Tensor& flow) {
  return Apply1(TheOp<"binary_cross_entropy_target_grad">(), {p, flow});
}

void GradBinaryCrossEntropy(GradContext& g) {
  const Tensor flow = LossFlow(g, g.attrs<LossAttrs>().reduction);
  if (g.needs(0)) g.set_grad_input(0, ToProbability(g.input(0), g.input(1), flow));
  if (g.needs(1)) g.set_grad_input(1, ToTarget(g.input(0), flow));
}

// With s = p (1 - p): the derivatives of (p - target) / s are -1 / s to the target and
// (1 - (p - target) (1 - 2 p) / s) / s to p, where s itself does not change once it is cut off.
void GradBinaryCrossEntropyGrad(GradContext& g) {
  const Tensor p = Wide(g.input(0)), target = Wide(g.input(1)), &dy = g.grad_output();
  if (g.needs(2)) g.set_grad_input(2, ToProbability(g.input(0), g.input(1), dy));
  const Tensor spread = Mul(p, Sub(1, p)), cut = Maximum(spread, 1e-12);
  const Tensor slope = Div(Mul(dy, g.input(2)), cut);
  if (g.needs(1)) g.set_grad_input(1, Neg(slope));
  if (!g.needs(0)) return;
  const Tensor bend = Div(Mul(Sub(p, target), Sub(1, Mul(p, 2))), cut);
  g.set_grad_input(0, Mul(slope, Sub(1, Where(Gt(spread, 1e-12), bend, 0.0))));
}
FIRN_REGISTER_OP(binary_cross_entropy_grad) {
  return {
      .doc = "flow * (p - target) / (p * (1 - p)): the gradient of binary_cross_entropy.",
      .inputs = {{.name = "p", .dtypes = kFloating},
                 {.name = "target", .same_dtype_as = "p"},
                 {.name = "flow", .same_dtype_as = "p"}},
      .outputs = {{.name = "dp"}},
      .infer = InferBroadcast,
      .grad = GradBinaryCrossEntropyGrad,
      .saves = {Saved::Input(0), Saved::Input(1), Saved::Input(2)},
      .may_reuse = {{0, 0}, {0, 1}},
      .kernels = {cpu::ElementwiseKernel(cpu::RunFloat<BinaryCrossEntropyGradFn, 3>)},
      .elementwise = cpu::ElementwiseOf<BinaryCrossEntropyGradFn>(),
  };
}

// The derivative to p is -flow / (p (1 - p)), or one summand of it where a logarithm is cut off.
void GradBinaryCrossEntropyTargetGrad(GradContext& g) {
  const Tensor p = Wide(g.input(0)), &dy = g.grad_output();
  if (g.needs(1)) g.set_grad_input(1, ToTarget(g.input(0), dy));
  if (!g.needs(0)) return;
  const auto slope = [](const Tensor& x) { return Where(Gt(Log(x), -100), Div(1, x), 0.0); };
  g.set_grad_input(0, Neg(Mul(Mul(dy, g.input(1)), Add(slope(p), slope(Sub(1, p))))));
}

FIRN_REGISTER_OP(binary_cross_entropy_target_grad) {
  return {
      .doc = "flow * (log(1 - p) - log p): the gradient of binary_cross_entropy by its target.",
      .inputs = {{.name = "p", .dtypes = kFloating}, {.name = "flow", .same_dtype_as = "p"}},
      .outputs = {{.name = "dtarget"}},
      .infer = InferBroadcast,
      .grad = GradBinaryCrossEntropyTargetGrad,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .may_reuse = {{0, 0}},
      .kernels = {cpu::ElementwiseKernel(cpu::RunFloat<BinaryCrossEntropyTargetGradFn, 2>)},
      .elementwise = cpu::ElementwiseOf<BinaryCrossEntropyTargetGradFn>(),
  };
}

FIRN_REGISTER_OP(binary_cross_entropy) {
  OpDef op = ElementwiseLossOp("-(target log p + (1 - target) log(1 - p)), its mean or its sum.",
                               "p", "target");
  op.attrs = AttrsOf<LossAttrs>();
  op.infer = InferElementwiseLoss;
  op.grad = GradBinaryCrossEntropy;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = {cpu::ElementwiseLossKernel<BinaryCrossEntropyFn>()};
  op.kernels[0].run = Run;
  op.kernels[0].layouts = nullptr;  // the error names an element by its row-major index
  op.autocast = Autocast::kFull;
  return op;
}

void GradBinaryCrossEntropyWithLogits(GradContext& g) {
  const Tensor flow = LossFlow(g, g.attrs<LossAttrs>().reduction);
  if (g.needs(0)) g.set_grad_input(0, Mul(flow, Sub(Sigmoid(g.input(0)), g.input(1))));
  if (g.needs(1)) g.set_grad_input(1, Neg(Mul(flow, g.input(0))));
}

FIRN_REGISTER_OP(binary_cross_entropy_with_logits) {
  OpDef op = ElementwiseLossOp("The binary cross entropy of sigmoid(x) and target.", "x", "target");
  op.attrs = AttrsOf<LossAttrs>();
  op.infer = InferElementwiseLoss;
  op.grad = GradBinaryCrossEntropyWithLogits;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = {cpu::ElementwiseLossKernel<BinaryCrossEntropyWithLogitsFn>()};
  op.autocast = Autocast::kFull;
  return op;
}

}  // namespace

Tensor BinaryCrossEntropy(const Tensor& p, const Tensor& target,
                          const BinaryCrossEntropyOptions& options) {
  const OpDef& op = TheOp<"binary_cross_entropy">();
  if (!options.weight.defined()) return Apply1(op, {p, target}, LossAttrs{options.reduction});
  const Tensor losses = Apply1(op, {p, target}, LossAttrs{Reduction::kNone});
  return ReduceLoss(losses, options.weight, options.reduction, op.name);
}

Tensor BinaryCrossEntropyWithLogits(const Tensor& x, const Tensor& target,
                                    const BinaryCrossEntropyWithLogitsOptions& options) {
  const OpDef& op = TheOp<"binary_cross_entropy_with_logits">();
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

void SigmoidFocalLossOptions::Check(const char* where) const {
  if (!(gamma >= 0)) RaiseStatus(InvalidArgument("gamma must be 0 or more, got ", gamma), where);
  if (!(alpha <= 1)) {
    RaiseStatus(InvalidArgument("alpha must be at most 1, or below 0 for none, got ", alpha),
                where);
  }
  CheckLossReduction(reduction, where);
}

Tensor SigmoidFocalLoss(const Tensor& x, const Tensor& target, const SigmoidFocalLossOptions& o) {
  CheckAlike({{"x", x}, {"target", target}}, "sigmoid_focal_loss");
  o.Check("sigmoid_focal_loss");
  // Half types compute in f32, which holds the small error of a confident answer.
  const DType wide = ComputeDType(x.dtype());
  const Tensor logits = Cast(x, wide), t = Cast(target, wide);
  Tensor losses = BinaryCrossEntropyWithLogits(logits, t, {.reduction = Reduction::kNone});
  if (o.gamma != 0) {
    // 1 - p_t: p where the target is 0, 1 - p where it is 1, without a difference of nearly equal
    // numbers.
    const Tensor wrong = Add(Mul(Sigmoid(logits), Sub(1, t)), Mul(Sigmoid(Neg(logits)), t));
    // Powers below 1 are infinitely steep at 0, so elements that are exactly right count as 0.
    const Tensor right = Lt(Abs(wrong), wide == DType::kF64 ? 0x1p-400 : 0x1p-50);
    losses = Mul(Where(right, 0.0, Pow(Where(right, 1.0, wrong), o.gamma)), losses);
  }
  if (o.alpha >= 0) losses = Mul(losses, Add(Mul(t, 2 * o.alpha - 1), 1 - o.alpha));
  return Cast(ReduceLoss(losses, {}, o.reduction, "sigmoid_focal_loss"), x.dtype());
}

}  // namespace firn
