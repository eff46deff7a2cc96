// transpose: a view with two dimensions swapped.

#include "tensor/ops/transpose.h"

#include <utility>

#include "tensor/apply.h"
#include "tensor/view.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const TransposeAttrs& a = c.attrs<TransposeAttrs>();
  FIRN_ASSIGN_OR_RETURN(const int dim0, NormalizeDim(a.dim0, c.shape(0)));
  FIRN_ASSIGN_OR_RETURN(const int dim1, NormalizeDim(a.dim1, c.shape(0)));
  Dims sizes = c.shape(0).dims();
  Dims strides = ViewStrides(c.in(0));
  if (dim0 != dim1) {  // rank 0 accepts a dim but has none
    std::swap(sizes[dim0], sizes[dim1]);
    std::swap(strides[dim0], strides[dim1]);
  }
  c.set_view(Shape::Trusted(sizes), strides, 0);
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  static const OpDef& op = Op("transpose");
  g.set_grad_input(0, Apply1(op, {g.grad_output()}, g.attrs<TransposeAttrs>()));
}

FIRN_REGISTER_OP(transpose) {
  return ViewOp("transpose", "A view with two dimensions swapped.", AttrsOf<TransposeAttrs>(),
                Infer, Grad);
}

}  // namespace

Tensor Transpose(const Tensor& x, int dim0, int dim1) {
  static const OpDef& op = Op("transpose");
  return Apply1(op, {x}, TransposeAttrs{dim0, dim1});
}

}  // namespace firn
