// l1_loss: |x - y|, reduced in the same pass.
//
// mse_loss: (x - y)^2, reduced in the same pass.
//
// smooth_l1_loss: a parabola near 0 and |d| - beta / 2 outside, reduced in the same pass. The
// derivative is d / beta cut off at -1 and 1.
//
// huber_loss: composed of smooth_l1_loss, which differs by the factor delta.
//
// epsilon_insensitive_loss: made of operations.
//
// kl_div: the terms p (log p - log q), reduced in the same pass.

#include "firn/tensor/ops/loss/regression.h"

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/elementwise_loss.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/loss/regression_fn.h"

namespace firn {
namespace {

void GradL1Loss(GradContext& g) {
  const Tensor flow = LossFlow(g, g.attrs<LossAttrs>().reduction);
  const Tensor sign = Sign(Sub(g.input(0), g.input(1)));
  if (g.needs(0)) g.set_grad_input(0, Mul(sign, flow));
  if (g.needs(1)) g.set_grad_input(1, Mul(sign, Mul(flow, -1)));
}

FIRN_REGISTER_OP(l1_loss) {
  OpDef op = ElementwiseLossOp("|x - y|, its mean or its sum.");
  op.attrs = AttrsOf<LossAttrs>();
  op.infer = InferElementwiseLoss;
  op.grad = GradL1Loss;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = {cpu::ElementwiseLossKernel<L1LossFn>()};
  op.autocast = Autocast::kFull;
  return op;
}

void GradMseLoss(GradContext& g) {
  const Tensor flow = LossFlow(g, g.attrs<LossAttrs>().reduction);
  const Tensor difference = Sub(g.input(0), g.input(1));
  if (g.needs(0)) g.set_grad_input(0, Mul(difference, Mul(flow, 2)));
  if (g.needs(1)) g.set_grad_input(1, Mul(difference, Mul(flow, -2)));
}

FIRN_REGISTER_OP(mse_loss) {
  OpDef op = ElementwiseLossOp("(x - y)^2, its mean or its sum.");
  op.attrs = AttrsOf<LossAttrs>();
  op.infer = InferElementwiseLoss;
  op.grad = GradMseLoss;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = {cpu::ElementwiseLossKernel<MseLossFn>()};
  op.autocast = Autocast::kFull;
  return op;
}

absl::Status CheckAttrs(const SmoothL1LossAttrs& a) {
  FIRN_RETURN_IF(!(a.beta >= 0) || std::isinf(a.beta),
                 InvalidArgument("beta must be at least 0 and finite, got ", a.beta));
  return CheckReduction(a.reduction);
}

absl::Status InferSmoothL1Loss(InferContext& c) {
  const SmoothL1LossAttrs& a = c.attrs<SmoothL1LossAttrs>();
  FIRN_RETURN_IF_ERROR(CheckAttrs(a));
  return InferElementwiseLoss(c, a.reduction);
}

// Whether moderate numbers can be multiplied and divided by it without overflow or underflow.
bool IsNearOne(double beta) { return beta > 0x1p-24 && beta < 0x1p24; }

void GradSmoothL1Loss(GradContext& g) {
  const SmoothL1LossAttrs& a = g.attrs<SmoothL1LossAttrs>();
  const Tensor flow = LossFlow(g, a.reduction);
  const Tensor d = Sub(g.input(0), g.input(1));
  const auto slope = [&] {
    const Tensor cut = Clamp(d, -a.beta, a.beta);
    // One pass where beta is moderate; otherwise flow / beta may overflow where the slope does not.
    return IsNearOne(a.beta) ? Mul(cut, Mul(flow, 1 / a.beta)) : Mul(Div(cut, a.beta), flow);
  };
  const Tensor dx = a.beta == 0 ? Mul(Sign(d), flow) : slope();
  if (g.needs(0)) g.set_grad_input(0, dx);
  if (g.needs(1)) g.set_grad_input(1, Mul(dx, -1));
}

FIRN_REGISTER_OP(smooth_l1_loss) {
  OpDef op = ElementwiseLossOp("The squared difference where it is small, else the absolute one.");
  op.attrs = AttrsOf<SmoothL1LossAttrs>();
  op.infer = InferSmoothL1Loss;
  op.grad = GradSmoothL1Loss;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = {cpu::ElementwiseLossKernel<SmoothL1LossFn>()};
  op.autocast = Autocast::kFull;
  return op;
}

absl::Status InferKlDiv(InferContext& c) {
  const Reduction reduction = c.attrs<KlDivAttrs>().reduction;
  if (reduction != Reduction::kBatchMean) FIRN_RETURN_IF_ERROR(CheckReduction(reduction));
  return InferElementwiseLoss(c, reduction);
}

absl::Status Run(KernelContext& k) {
  return k.attrs<KlDivAttrs>().log_target ? cpu::RunElementwiseLoss<KlDivLogFn>(k)
                                          : cpu::RunElementwiseLoss<KlDivFn>(k);
}

void GradKlDiv(GradContext& g) {
  const KlDivAttrs& a = g.attrs<KlDivAttrs>();
  const Tensor flow = LossFlow(g, a.reduction);
  const Tensor &log_q = g.input(0), &target = g.input(1);
  if (g.needs(0)) g.set_grad_input(0, Neg(Mul(flow, a.log_target ? Exp(target) : target)));
  if (!g.needs(1)) return;
  if (a.log_target) {
    g.set_grad_input(1, Mul(flow, Mul(Exp(target), Add(Sub(target, log_q), 1))));
  } else {
    const Tensor zero = Eq(target, 0);
    const Tensor slope = Add(Sub(Log(Where(zero, 1, target)), log_q), 1);
    g.set_grad_input(1, Mul(flow, Where(zero, 0, slope)));
  }
}

FIRN_REGISTER_OP(kl_div) {
  OpDef op = ElementwiseLossOp("p (log p - log_q), its mean or its sum.", "log_q", "p");
  op.attrs = AttrsOf<KlDivAttrs>();
  op.infer = InferKlDiv;
  op.grad = GradKlDiv;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = {cpu::ElementwiseLossKernel<KlDivFn>()};
  op.kernels[0].run = Run;
  op.autocast = Autocast::kFull;
  return op;
}

}  // namespace

Tensor L1Loss(const Tensor& x, const Tensor& y, const LossOptions& options) {
  return Apply1(TheOp<"l1_loss">(), {x, y}, options);
}

Tensor MseLoss(const Tensor& x, const Tensor& y, const LossOptions& options) {
  return Apply1(TheOp<"mse_loss">(), {x, y}, options);
}

void inner::SmoothL1LossAttrs::Check(const char* where) const {
  RaiseIfError(CheckAttrs(*this), where);
}

Tensor SmoothL1Loss(const Tensor& x, const Tensor& y, const SmoothL1LossAttrs& options) {
  return Apply1(TheOp<"smooth_l1_loss">(), {x, y}, options);
}

void HuberLossOptions::Check(const char* where) const {
  if (!(delta > 0) || std::isinf(delta)) {
    RaiseStatus(InvalidArgument("delta must be above 0 and finite, got ", delta), where);
  }
  CheckLossReduction(reduction, where);
}

Tensor HuberLoss(const Tensor& x, const Tensor& y, const HuberLossOptions& options) {
  options.Check("huber_loss");
  CheckAlike({{"x", x}, {"y", y}}, "huber_loss");
  const double delta = options.delta;
  if (!IsNearOne(delta)) {
    // Avoids delta^2 and its reciprocal, of which one may overflow: with c the difference cut off
    // at delta, it is c (d - c / 2).
    const Tensor d = Sub(x, y), cut = Clamp(d, -delta, delta);
    return ReduceLoss(Mul(cut, Sub(d, Mul(cut, 0.5))), {}, options.reduction, "huber_loss");
  }
  const Tensor loss = SmoothL1Loss(x, y, {.reduction = options.reduction, .beta = delta});
  return delta == 1 ? loss : Mul(loss, delta);
}

void EpsilonInsensitiveLossOptions::Check(const char* where) const {
  if (!(epsilon >= 0)) {
    RaiseStatus(InvalidArgument("epsilon must be at least 0, got ", epsilon), where);
  }
  CheckLossReduction(reduction, where);
}

Tensor EpsilonInsensitiveLoss(const Tensor& x, const Tensor& y,
                              const EpsilonInsensitiveLossOptions& options) {
  constexpr const char* kName = "epsilon_insensitive_loss";
  CheckAlike({{"x", x}, {"y", y}}, kName);
  options.Check(kName);
  const Tensor losses = Relu(Sub(Abs(Sub(x, y)), options.epsilon));
  return ReduceLoss(losses, {}, options.reduction, kName);
}
Tensor EpsilonInsensitiveLoss(const Tensor& x, const Tensor& y, Real epsilon, Reduction reduction) {
  return EpsilonInsensitiveLoss(x, y, {.epsilon = epsilon, .reduction = reduction});
}

Tensor KlDiv(const Tensor& log_q, const Tensor& p, const KlDivAttrs& options) {
  return Apply1(TheOp<"kl_div">(), {log_q, p}, options);
}

}  // namespace firn
