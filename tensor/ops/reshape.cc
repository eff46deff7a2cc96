// reshape: a view where possible.

#include "tensor/ops/reshape.h"

#include <optional>

#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/op.h"
#include "tensor/ops/contiguous.h"
#include "tensor/ops/expand.h"
#include "tensor/view.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(c.attrs<ShapeAttrs>().shape.span()));
  FIRN_RETURN_IF(
      shape.num_elements() != c.shape(0).num_elements(),
      InvalidArgument("x ", c.shape(0).ToString(), " has ", c.shape(0).num_elements(),
                      " elements, shape ", shape.ToString(), " has ", shape.num_elements()));
  const std::optional<Dims> strides = ReshapedStrides(c.in(0), shape);
  FIRN_RETURN_IF(!strides, InvalidArgument("x ", c.in(0).ToString(), " cannot be viewed as ",
                                           shape.ToString(), " without copying"));
  c.set_view(shape, *strides, 0);
  return absl::OkStatus();
}

void Grad(GradContext& g) { g.set_grad_input(0, Reshape(g.grad_output(), g.input_shape(0))); }

FIRN_REGISTER_OP(reshape) {
  return ViewOp("reshape",
                "The same elements in another shape; a view when strides allow, else a copy.",
                AttrsOf<ShapeAttrs>(), Infer, Grad);
}

// `sizes` with its -1 replaced.
Shape Resolve(const Tensor& x, absl::Span<const int64_t> sizes) {
  Dims dims;
  int64_t known = 1;
  int unknown = -1;
  if (sizes.size() <= static_cast<size_t>(kMaxRank)) {
    for (int64_t s : sizes) {
      if (s == -1 && unknown < 0) {
        unknown = dims.rank;
      } else if (__builtin_mul_overflow(known, s, &known)) {
        break;  // Shape reports it
      }
      dims.push_back(s);
    }
  }
  if (unknown >= 0) {
    if (known <= 0 || x.num_elements() % known != 0) {
      RaiseStatus(InvalidArgument("the -1 in a shape with the other sizes ", known,
                                  " cannot be found for x ", x.shape().ToString()),
                  "reshape");
    }
    dims[unknown] = x.num_elements() / known;
    return Shape(dims.span());
  }
  return Shape(sizes);
}

}  // namespace

Tensor View(const Tensor& x, const Shape& shape) {
  static const OpDef& op = Op("reshape");
  return Apply1(op, {x}, ShapeAttrs{shape.dims()});
}

Tensor Reshape(const Tensor& x, absl::Span<const int64_t> sizes) {
  if (!x.defined()) RaiseStatus(InvalidArgument("x is an undefined tensor"), "reshape");
  const Shape shape = Resolve(x, sizes);
  if (x.shape() == shape) return x;
  if (x.num_elements() == shape.num_elements() && !ReshapedStrides(x.spec(), shape)) {
    return View(Contiguous(x), shape);
  }
  return View(x, shape);
}

}  // namespace firn
