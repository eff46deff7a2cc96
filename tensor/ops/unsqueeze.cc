// unsqueeze: a view with one more dimension.

#include "tensor/ops/unsqueeze.h"

#include "tensor/apply.h"
#include "tensor/ops/reshape.h"
#include "tensor/view.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const Shape& x = c.shape(0);
  const int64_t given = c.attrs<DimAttrs>().dim;
  const int rank = x.rank() + 1;
  FIRN_RETURN_IF(rank > kMaxRank, InvalidArgument("x ", x.ToString(),
                                                  " already has the most dimensions, ", kMaxRank));
  FIRN_RETURN_IF(given < -rank || given >= rank,
                 OutOfRange("dim ", given, " is outside [", -rank, ", ", rank - 1, "], where x ",
                            x.ToString(), " can take one more"));
  const int64_t dim = given < 0 ? given + rank : given;
  const Dims own = ViewStrides(c.in(0));
  Dims sizes, strides;
  for (int i = 0; i < rank; ++i) {
    const int from = i < dim ? i : i - 1;
    sizes.push_back(i == dim ? 1 : x[from]);
    strides.push_back(i == dim ? 1 : own[from]);
  }
  c.set_view(Shape::Trusted(sizes), strides, 0);
  return absl::OkStatus();
}

void Grad(GradContext& g) { g.set_grad_input(0, Reshape(g.grad_output(), g.input_shape(0))); }

FIRN_REGISTER_OP(unsqueeze) {
  return ViewOp("unsqueeze", "A view with a dimension of size 1 inserted.", AttrsOf<DimAttrs>(),
                Infer, Grad);
}

}  // namespace

Tensor Unsqueeze(const Tensor& x, int dim) {
  static const OpDef& op = Op("unsqueeze");
  return Apply1(op, {x}, DimAttrs{dim});
}

}  // namespace firn
