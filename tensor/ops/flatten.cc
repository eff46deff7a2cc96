// flatten: a reshape that keeps its meaning when sizes change.

#include "tensor/ops/flatten.h"

#include "tensor/apply.h"
#include "tensor/ops/contiguous.h"
#include "tensor/ops/reshape.h"
#include "tensor/view.h"

namespace firn {
namespace {

absl::StatusOr<Shape> FlattenedShape(const Shape& x, const FlattenAttrs& a) {
  FIRN_ASSIGN_OR_RETURN(const int start, NormalizeDim(a.start_dim, x));
  FIRN_ASSIGN_OR_RETURN(const int end, NormalizeDim(a.end_dim, x));
  FIRN_RETURN_IF(start > end, InvalidArgument("start_dim ", a.start_dim, " lies behind end_dim ",
                                              a.end_dim, " of x ", x.ToString()));
  if (x.rank() == 0) return Shape::Trusted(Dims(1, 1));
  Dims sizes;
  for (int i = 0; i < x.rank(); ++i) {
    if (i > start && i <= end) {
      sizes[start] *= x[i];
    } else {
      sizes.push_back(x[i]);
    }
  }
  return Shape::Trusted(sizes);
}

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape, FlattenedShape(c.shape(0), c.attrs<FlattenAttrs>()));
  const std::optional<Dims> strides = ReshapedStrides(c.in(0), shape);
  FIRN_RETURN_IF(!strides, InvalidArgument("x ", c.in(0).ToString(), " cannot be viewed as ",
                                           shape.ToString(), " without copying"));
  c.set_view(shape, *strides, 0);
  return absl::OkStatus();
}

void Grad(GradContext& g) { g.set_grad_input(0, Reshape(g.grad_output(), g.input_shape(0))); }

FIRN_REGISTER_OP(flatten) {
  return ViewOp("flatten", "Dimensions start_dim to end_dim joined into one.",
                AttrsOf<FlattenAttrs>(), Infer, Grad);
}

}  // namespace

Tensor Flatten(const Tensor& x, int start_dim, int end_dim) {
  static const OpDef& op = Op("flatten");
  const FlattenAttrs attrs{start_dim, end_dim};
  if (x.defined() && !x.spec().dense()) {
    const absl::StatusOr<Shape> shape = FlattenedShape(x.shape(), attrs);
    if (shape.ok() && !ReshapedStrides(x.spec(), *shape)) {
      return Apply1(op, {Contiguous(x)}, attrs);
    }
  }
  return Apply1(op, {x}, attrs);
}

}  // namespace firn
