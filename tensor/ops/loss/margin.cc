// Hinges are Relu, whose gradient at the kink is 0, like PyTorch's.
//
// multilabel_margin_loss: a loss for each sample. Its gradient is dy times slopes, which are an
// operation of their own: they are piecewise constant, so that no gradient flows back from them.
//
// The others are made of operations.

#include "firn/tensor/ops/loss/margin.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/index/embedding.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/loss/binary.h"
#include "firn/tensor/ops/loss/loss_rules.h"
#include "firn/tensor/ops/loss/margin_body.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

absl::StatusOr<IndexBounds> Bounds(const KernelQuery& q, int) {
  return IndexBounds{0, q.in(0).shape[1], -1};
}

absl::Status InferAlike(InferContext& c) {
  FIRN_RETURN_IF(c.shape(0) != c.shape(1),
                 InvalidArgument("target ", c.shape(1).ToString(), " must have x's shape, ",
                                 c.shape(0).ToString()));
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status InferRows(InferContext& c) {
  FIRN_RETURN_IF_ERROR(InferAlike(c));
  const int64_t rows[] = {c.shape(0)[0]};
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(rows));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

OpDef Definition(std::string_view doc, std::string_view result) {
  return {.doc = doc,
          .inputs = {{.name = "x", .dtypes = kFloating, .min_rank = 2, .max_rank = 2},
                     {.name = "target", .dtypes = kIndex, .min_rank = 2, .max_rank = 2}},
          .outputs = {{.name = result}},
          .index_bounds = Bounds,
          .index_inputs = {1}};
}

void GradMultilabelMarginLoss(GradContext& g) {
  const Tensor slopes = inner::MultilabelMarginSlopes(g.input(0), g.input(1));
  g.set_grad_input(0, Mul(Unsqueeze(g.grad_output(), 1), slopes));
}

FIRN_REGISTER_OP(multilabel_margin_loss) {
  OpDef op = Definition("The hinge loss of the labels of each sample.", "losses");
  op.infer = InferRows;
  op.grad = GradMultilabelMarginLoss;
  op.saves = {Saved::Input(0), Saved::Input(1)};
  op.kernels = cpu::Portable<MultilabelMarginLossKernel>();
  op.autocast = Autocast::kFull;
  return op;
}

FIRN_REGISTER_OP(multilabel_margin_slopes) {
  OpDef op = Definition("The slopes of multilabel_margin_loss. Not differentiable.", "slopes");
  op.infer = InferAlike;
  op.kernels = cpu::Portable<MultilabelMarginSlopesKernel>();
  return op;
}

// Throws unless x is [n, classes] or [classes].
void CheckRows(const Tensor& x, std::string_view op) {
  if (x.rank() == 1 || x.rank() == 2) return;
  RaiseStatus(InvalidArgument("x must be [n, classes] or [classes], got ", x.shape().ToString()),
              op);
}

// Throws unless that holds, and the target, of indices, has that shape.
void CheckListed(const Tensor& x, const Tensor& target, std::string_view op) {
  CheckOneFloat({{"x", x}}, op);
  CheckLabels(target, op);
  CheckRows(x, op);
  if (target.shape() == x.shape()) return;
  RaiseStatus(InvalidArgument("target ", target.shape().ToString(), " must have x's shape, ",
                              x.shape().ToString()),
              op);
}

void CheckOfClasses(const Tensor& x, const Tensor& target, const MultiMarginLossOptions& o) {
  constexpr const char* kName = "multi_margin_loss";
  CheckOneFloat({{"x", x}}, kName);
  CheckLabels(target, kName);
  CheckRows(x, kName);
  const Shape want = LabelShape(x.shape());
  const int64_t classes = x.size(-1);
  if (target.shape() != want) {
    RaiseStatus(InvalidArgument("target ", target.shape().ToString(), " does not fit x ",
                                x.shape().ToString(), " (want ", want.ToString(), ")"),
                kName);
  }
  o.Check(kName);
  if (!o.weight.defined()) return;
  CheckOneFloat({{"x", x}, {"weight", o.weight}}, kName);
  if (o.weight.rank() == 1 && o.weight.size(0) == classes) return;
  RaiseStatus(InvalidArgument("weight ", o.weight.shape().ToString(),
                              " must have one element for each of ", classes, " classes"),
              kName);
}

}  // namespace

Tensor HingeEmbeddingLoss(const Tensor& x, const Tensor& target,
                          const HingeEmbeddingLossOptions& o) {
  CheckAlike({{"x", x}, {"target", target}}, "hinge_embedding_loss");
  const Tensor near = Where(Ne(target, -1), x, 0.0);
  const Tensor far = Where(Ne(target, 1), Relu(Sub(o.margin, x)), 0.0);
  return ReduceLoss(Add(near, far), {}, o.reduction, "hinge_embedding_loss");
}

Tensor MarginRankingLoss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                         const MarginRankingLossOptions& o) {
  CheckAlike({{"x1", x1}, {"x2", x2}, {"target", target}}, "margin_ranking_loss");
  const Tensor losses = Relu(Sub(o.margin, Mul(target, Sub(x1, x2))));
  return ReduceLoss(losses, {}, o.reduction, "margin_ranking_loss");
}

Tensor SoftMarginLoss(const Tensor& x, const Tensor& target, const LossOptions& options) {
  CheckAlike({{"x", x}, {"target", target}}, "soft_margin_loss");
  return ReduceLoss(Neg(LogSigmoid(Mul(target, x))), {}, options.reduction, "soft_margin_loss");
}

void MultiMarginLossOptions::Check(const char* where) const {
  if (p != 1 && p != 2) RaiseStatus(InvalidArgument("p must be 1 or 2, got ", p), where);
  CheckLossReduction(reduction, where);
}

Tensor MultiMarginLoss(const Tensor& x, const Tensor& target, const MultiMarginLossOptions& o) {
  CheckOfClasses(x, target, o);
  const int64_t classes = x.size(-1);
  const Tensor own =
      IndexedByTarget("multi_margin_loss", [&] { return OneHot(target, classes, DType::kBool); });
  const Tensor right = Sum(Where(own, x, 0.0), -1, true);
  const Tensor hinge = Where(own, 0.0, Relu(Add(Sub(x, right), o.margin)));
  const Tensor losses = Mean(o.p == 1 ? hinge : Square(hinge), -1);
  const Tensor weight = o.weight.defined() ? IndexSelect(o.weight, 0, target) : Tensor();
  return ReduceLoss(losses, weight, o.reduction, "multi_margin_loss");
}

Tensor inner::MultilabelMarginSlopes(const Tensor& x, const Tensor& target) {
  return Apply1(TheOp<"multilabel_margin_slopes">(), {x, target});
}

Tensor MultilabelMarginLoss(const Tensor& x, const Tensor& target, const LossOptions& options) {
  const OpDef& op = TheOp<"multilabel_margin_loss">();
  RaiseIfError(CheckReduction(options.reduction), op.name);
  CheckListed(x, target, op.name);
  if (x.rank() != 1) {
    return ReduceLoss(Apply1(op, {x, target}), {}, options.reduction, op.name);
  }
  const Tensor losses = Apply1(op, {Unsqueeze(x, 0), Unsqueeze(target, 0)});
  return ReduceLoss(Squeeze(losses, 0), {}, options.reduction, op.name);
}

Tensor MultilabelSoftMarginLoss(const Tensor& x, const Tensor& target,
                                const MultilabelSoftMarginLossOptions& o) {
  constexpr const char* kName = "multilabel_soft_margin_loss";
  CheckAlike({{"x", x}, {"target", target}}, kName);
  if (x.rank() == 0) RaiseStatus(InvalidArgument("x is 0-d: it has no classes"), kName);
  RaiseIfError(CheckReduction(o.reduction), kName);
  CheckWeight(o.weight, x.shape(), kName);
  const Tensor losses =
      BinaryCrossEntropyWithLogits(x, target, {.weight = o.weight, .reduction = Reduction::kNone});
  return ReduceLoss(Mean(losses, -1), {}, o.reduction, kName);
}

}  // namespace firn
