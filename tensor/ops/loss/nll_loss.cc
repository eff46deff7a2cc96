// nll_loss: picks one log-probability for each sample. It is linear in them, so its gradient is the
// transposed map, which puts dy back where it was picked, and that one's gradient is the loss
// again.

#include "firn/tensor/ops/loss/nll_loss.h"

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/loss/nll_loss_body.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const NllLossAttrs& a = c.attrs<NllLossAttrs>();
  FIRN_RETURN_IF_ERROR(CheckReduction(a.reduction));
  FIRN_RETURN_IF_ERROR(CheckClasses(c, c.shape(0), "log_probs", 1));
  c.set_out(0, c.dtype(0), LossShape(c.shape(1), a.reduction));
  return absl::OkStatus();
}

absl::Status InferGrad(InferContext& c) {
  const NllLossAttrs& a = c.attrs<NllLossAttrs>();
  FIRN_RETURN_IF_ERROR(CheckReduction(a.reduction));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, LogitsShape(c.shape(1), a.classes));
  FIRN_RETURN_IF_ERROR(CheckClasses(c, shape, "log_probs", 1));
  const Shape dy = LossShape(c.shape(1), a.reduction);
  FIRN_RETURN_IF(c.shape(0) != dy, InvalidArgument("dy must have shape ", dy.ToString(), ", got ",
                                                   c.shape(0).ToString()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int) {
  const Shape& x = q.in(0).shape;
  return IndexBounds{0, x[ClassDim(x)], q.attrs<NllLossAttrs>().ignore_index};
}

absl::StatusOr<IndexBounds> GradBounds(const KernelQuery& q, int) {
  const NllLossAttrs& a = q.attrs<NllLossAttrs>();
  return IndexBounds{0, a.classes, a.ignore_index};
}

void Grad(GradContext& g) {
  if (!g.needs(0)) return;
  const Shape& x = g.input_shape(0);
  NllLossAttrs a = g.attrs<NllLossAttrs>();
  a.classes = x[ClassDim(x)];
  g.set_grad_input(0,
                   Apply1(TheOp<"nll_loss_grad">(), {g.grad_output(), g.input(1), g.input(2)}, a));
}

void GradOfGrad(GradContext& g) {
  if (!g.needs(0)) return;
  const NllLossAttrs& a = g.attrs<NllLossAttrs>();
  g.set_grad_input(0,
                   NllLoss(g.grad_output(), g.input(1), {g.input(2), a.ignore_index, a.reduction}));
}

// Computes both operations from `values` and the targets.
OpDef Definition(std::string_view doc, ArgDecl values, std::string_view result) {
  ArgDecl weight{.name = "weight", .same_dtype_as = values.name};
  weight.min_rank = weight.max_rank = 1;
  weight.optional = true;
  OpDef op{.doc = doc, .outputs = {{.name = result}}};
  op.inputs = {values, {.name = "label", .dtypes = kIndex}, weight};
  op.attrs = AttrsOf<NllLossAttrs>();
  op.saves = {Saved::Input(1), Saved::Input(2)};
  op.index_inputs = {1};
  return op;
}

FIRN_REGISTER_OP(nll_loss) {
  OpDef op =
      Definition("The negative log likelihood of class indices. Not differentiable in weight.",
                 {.name = "log_probs", .dtypes = kFloating, .min_rank = 1}, "loss");
  op.infer = Infer;
  op.grad = Grad;
  op.index_bounds = Bounds;
  op.kernels = cpu::Portable<NllLossKernel>();
  op.autocast = Autocast::kFull;
  return op;
}

FIRN_REGISTER_OP(nll_loss_grad) {
  OpDef op = Definition("The gradient of nll_loss in log_probs. Not differentiable in weight.",
                        {.name = "dy", .dtypes = kFloating}, "dlog_probs");
  op.infer = InferGrad;
  op.grad = GradOfGrad;
  op.index_bounds = GradBounds;
  op.kernels = cpu::Portable<NllLossGradKernel>();
  return op;
}

}  // namespace

Tensor NllLoss(const Tensor& log_probs, const Tensor& target, const NllLossOptions& options) {
  return Apply1(TheOp<"nll_loss">(), {log_probs, target, options.weight},
                NllLossAttrs{options.ignore_index, options.reduction});
}

}  // namespace firn
