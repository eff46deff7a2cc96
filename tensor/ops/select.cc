// select: a view at one position of a dimension. Its gradient is scattered into zeros.

#include "tensor/ops/select.h"

#include "tensor/apply.h"
#include "tensor/ops/slice_scatter.h"
#include "tensor/ops/unsqueeze.h"
#include "tensor/view.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const SelectAttrs& a = c.attrs<SelectAttrs>();
  const Shape& x = c.shape(0);
  FIRN_RETURN_IF(x.rank() == 0, InvalidArgument("x is 0-d: it has no dimension to select from"));
  FIRN_ASSIGN_OR_RETURN(const int dim, NormalizeDim(a.dim, x));
  FIRN_RETURN_IF(a.index < -x[dim] || a.index >= x[dim],
                 OutOfRange("index ", a.index, " is outside dim ", dim, " of x ", x.ToString()));
  const int64_t index = a.index < 0 ? a.index + x[dim] : a.index;
  const Dims own = ViewStrides(c.in(0));
  Dims sizes, strides;
  for (int i = 0; i < x.rank(); ++i) {
    if (i == dim) continue;
    sizes.push_back(x[i]);
    strides.push_back(own[i]);
  }
  c.set_view(Shape::Trusted(sizes), strides, index * own[dim]);
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const SelectAttrs& a = g.attrs<SelectAttrs>();
  const TensorSpec& x = g.input_spec(0);
  const int dim = static_cast<int>(a.dim);
  const int64_t end = a.index == -1 ? kEnd : a.index + 1;
  g.set_grad_input(0, SliceScatter(ExpandedZeros(x.shape, x.dtype, x.device),
                                   Unsqueeze(g.grad_output(), dim), dim, a.index, end));
}

FIRN_REGISTER_OP(select) {
  return ViewOp("select", "x at one index of dim, which is dropped.", AttrsOf<SelectAttrs>(), Infer,
                Grad);
}

}  // namespace

Tensor Select(const Tensor& x, int dim, int64_t index) {
  static const OpDef& op = Op("select");
  return Apply1(op, {x}, SelectAttrs{dim, index});
}

}  // namespace firn
