// kl_div: the terms p (log p - log q), reduced in the same pass.

#include "tensor/ops/kl_div.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise_loss.h"
#include "tensor/loss_rules.h"
#include "tensor/op.h"
#include "tensor/ops/add.h"
#include "tensor/ops/eq.h"
#include "tensor/ops/exp.h"
#include "tensor/ops/kl_div_fn.h"
#include "tensor/ops/log.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/neg.h"
#include "tensor/ops/sub.h"
#include "tensor/ops/where.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const Reduction reduction = c.attrs<KlDivAttrs>().reduction;
  if (reduction != Reduction::kBatchMean) FIRN_RETURN_IF_ERROR(CheckReduction(reduction));
  return InferElementwiseLoss(c, reduction);
}

absl::Status Run(KernelContext& k) {
  return k.attrs<KlDivAttrs>().log_target ? cpu::RunElementwiseLoss<KlDivLogFn>(k)
                                          : cpu::RunElementwiseLoss<KlDivFn>(k);
}

void Grad(GradContext& g) {
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
  OpDef op = ElementwiseLossOp("kl_div", "p (log p - log_q), its mean or its sum.", "log_q", "p");
  op.attrs = AttrsOf<KlDivAttrs>();
  op.infer = Infer;
  op.grad = Grad;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = {cpu::ElementwiseLossKernel<KlDivFn>()};
  op.kernels[0].run = Run;
  op.autocast = Autocast::kFull;
  return op;
}

}  // namespace

Tensor KlDiv(const Tensor& log_q, const Tensor& p, const KlDivAttrs& options) {
  static const OpDef& op = Op("kl_div");
  return Apply1(op, {log_q, p}, options);
}

}  // namespace firn
