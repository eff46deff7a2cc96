// Shape rules and promotion shared by elementwise operations.
//
// A number (weak_number) counts only by its kind - bool, integer or float - as in PyTorch: it
// changes the result's dtype only when its kind is above the tensor's.

#include "tensor/elementwise.h"

#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/ops/cast.h"

namespace firn {
namespace {

absl::StatusOr<Shape> BroadcastAll(InferContext& c) {
  Shape shape = c.shape(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (!c.has(i)) continue;
    FIRN_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, c.shape(i)));
  }
  return shape;
}

int KindOf(DType d) { return d == DType::kBool ? 0 : IsFloating(d) ? 2 : 1; }

DType ResultType(const Tensor& x, const Tensor& y) {
  const bool wx = x.impl()->weak_number, wy = y.impl()->weak_number;
  if (wx == wy) return Promote(x.dtype(), y.dtype());
  const DType strong = wx ? y.dtype() : x.dtype();
  const DType weak = wx ? x.dtype() : y.dtype();
  return KindOf(weak) > KindOf(strong) ? weak : strong;
}

}  // namespace

absl::Status InferLikeInput(InferContext& c) {
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status InferBroadcast(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape, BroadcastAll(c));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

absl::Status InferPredicate(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape, BroadcastAll(c));
  c.set_out(0, DType::kBool, shape);
  return absl::OkStatus();
}

Promoted PromoteOperands(const Tensor& x, const Tensor& y, std::string_view op, bool to_float) {
  if (!x.defined() || !y.defined()) {
    RaiseStatus(InvalidArgument(x.defined() ? "y" : "x", " is an undefined tensor"), op);
  }
  Promoted p(x, y);
  DType d = x.dtype() == y.dtype() ? x.dtype() : ResultType(x, y);
  if (to_float && !IsFloating(d)) d = kDefaultFloat;
  if (x.dtype() != d) p.converted_x_ = Cast(x, d);
  if (y.dtype() != d) p.converted_y_ = Cast(y, d);
  return p;
}

Tensor ApplyPromoted(const OpDef& op, const Tensor& x, const Tensor& y, AttrsRef attrs,
                     bool to_float) {
  if (x.defined() && y.defined() && x.dtype() == y.dtype() && (!to_float || IsFloating(x.dtype())))
      [[likely]] {
    return Apply1(op, {x, y}, attrs);
  }
  const Promoted p = PromoteOperands(x, y, op.name, to_float);
  return Apply1(op, {p.x(), p.y()}, attrs);
}

Tensor ToFloating(const Tensor& x) {
  return x.defined() && !IsFloating(x.dtype()) ? Cast(x, kDefaultFloat) : x;
}

}  // namespace firn
