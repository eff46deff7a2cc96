// Shape rules of losses, and parts shared by their gradients and reductions.

#include "firn/tensor/ops/loss/loss_rules.h"

#include <string>

#include "absl/status/status.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn {

Shape LabelShape(const Shape& logits) {
  Dims d;
  for (int i = 0; i < logits.rank(); ++i) {
    if (i != ClassDim(logits)) d.push_back(logits[i]);
  }
  return Shape::Trusted(d);
}

absl::StatusOr<Shape> LogitsShape(const Shape& label, int64_t classes) {
  FIRN_RETURN_IF(label.rank() == kMaxRank,
                 InvalidArgument("label ", label.ToString(), " has too many dimensions"));
  Dims d;
  if (label.rank() == 0) d.push_back(classes);
  for (int i = 0; i < label.rank(); ++i) {
    d.push_back(label[i]);
    if (i == 0) d.push_back(classes);
  }
  return Shape::Make(d.span());
}

absl::Status CheckClasses(const InferContext& c, const Shape& logits, std::string_view name,
                          int label) {
  const Shape want = LabelShape(logits);
  FIRN_RETURN_IF(c.shape(label) != want,
                 InvalidArgument("label ", c.shape(label).ToString(), " does not fit ", name, " ",
                                 logits.ToString(), " (want ", want.ToString(), ")"));
  const int64_t classes = logits[ClassDim(logits)];
  FIRN_RETURN_IF(c.has(label + 1) && c.shape(label + 1)[0] != classes,
                 InvalidArgument("weight ", c.shape(label + 1).ToString(),
                                 " must have one element for each of ", classes, " classes"));
  return absl::OkStatus();
}

Shape LossShape(const Shape& elements, Reduction reduction) {
  return reduction == Reduction::kNone ? elements : Shape();
}

absl::Status InferElementwiseLoss(InferContext& c, Reduction reduction) {
  FIRN_RETURN_IF(
      c.shape(0) != c.shape(1),
      InvalidArgument("shapes ", c.shape(0).ToString(), " and ", c.shape(1).ToString(), " differ"));
  c.set_out(0, c.dtype(0), LossShape(c.shape(0), reduction));
  return absl::OkStatus();
}

absl::Status InferElementwiseLoss(InferContext& c) {
  const Reduction reduction = c.attrs<LossAttrs>().reduction;
  FIRN_RETURN_IF_ERROR(CheckReduction(reduction));
  return InferElementwiseLoss(c, reduction);
}

OpDef ElementwiseLossOp(std::string_view doc, std::string_view x, std::string_view y) {
  return {.doc = doc,
          .inputs = {{.name = x, .dtypes = kFloating}, {.name = y, .same_dtype_as = x}},
          .outputs = {{.name = "loss"}}};
}

Tensor LossFlow(GradContext& g, Reduction reduction) {
  const double divisor = LossDivisor(g.input_shape(g.needs(0) ? 0 : 1), reduction);
  return divisor == 1 ? g.grad_output() : MulInFloat(g.grad_output(), 1 / divisor);
}

Tensor ReduceLoss(const Tensor& losses, const Tensor& weight, Reduction reduction,
                  std::string_view op) {
  RaiseIfError(CheckReduction(reduction), op);
  CheckWeight(weight, losses.shape(), op);
  const Tensor weighted = weight.defined() ? Mul(losses, weight) : losses;
  if (reduction == Reduction::kNone) return weighted;
  return reduction == Reduction::kMean ? Mean(weighted) : Sum(weighted);
}

void CheckLabels(const Tensor& target, std::string_view op) {
  CheckDefined(target, op, "target");
  if (target.dtype() == DType::kI32 || target.dtype() == DType::kI64) return;
  RaiseStatus(
      InvalidArgument("target must be class indices, i32 or i64, got ", target.spec().ToString()),
      op);
}

void CheckWeight(const Tensor& weight, const Shape& losses, std::string_view op) {
  if (!weight.defined()) return;
  const absl::StatusOr<Shape> shape = BroadcastShapes(losses, weight.shape());
  if (shape.ok() && *shape == losses) return;
  RaiseStatus(InvalidArgument("weight ", weight.shape().ToString(), " does not broadcast to ",
                              losses.ToString()),
              op);
}

Tensor IndexedByTarget(std::string_view op, const std::function<Tensor()>& f) {
  constexpr std::string_view kTheirs = "indices ";
  try {
    return f();
  } catch (const Error& e) {
    const std::string message(e.status().message());
    if (e.code() != absl::StatusCode::kOutOfRange || !message.starts_with(kTheirs)) throw;
    RaiseStatus(OutOfRange("target ", message.substr(kTheirs.size())), op);
  }
}

void CheckOneFloat(std::initializer_list<NamedTensor> tensors, std::string_view op) {
  const NamedTensor& first = *tensors.begin();
  for (const NamedTensor& t : tensors) {
    CheckDefined(t.tensor, op, t.name);
    if (!IsFloating(first.tensor.dtype())) {
      RaiseStatus(InvalidArgument(first.name, " must be ", DTypeNames(kFloating), ", got ",
                                  first.tensor.spec().ToString()),
                  op);
    }
    if (t.tensor.dtype() != first.tensor.dtype()) {
      RaiseStatus(
          InvalidArgument(first.name, " is ", DTypeName(first.tensor.dtype()), " but ", t.name,
                          " is ", DTypeName(t.tensor.dtype()), ": convert one with To(...)"),
          op);
    }
  }
}

void CheckAlike(std::initializer_list<NamedTensor> tensors, std::string_view op) {
  CheckOneFloat(tensors, op);
  const Shape& want = tensors.begin()->tensor.shape();
  for (const NamedTensor& t : tensors) {
    if (t.tensor.shape() == want) continue;
    RaiseStatus(InvalidArgument("shapes ", want.ToString(), " and ", t.tensor.shape().ToString(),
                                " differ: ", t.name, " must be like ", tensors.begin()->name),
                op);
  }
}

}  // namespace firn
