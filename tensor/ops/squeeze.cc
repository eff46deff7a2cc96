// squeeze: a view without dimensions of size 1.

#include "tensor/ops/squeeze.h"

#include <algorithm>

#include "tensor/apply.h"
#include "tensor/ops/reshape.h"
#include "tensor/view.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const Shape& x = c.shape(0);
  FIRN_ASSIGN_OR_RETURN(const Dims dims, NormalizeDims(c.attrs<SqueezeAttrs>().dims, x));
  const absl::Span<const int64_t> listed = dims.span();
  const Dims own = ViewStrides(c.in(0));
  Dims sizes, strides;
  for (int i = 0; i < x.rank(); ++i) {
    if (x[i] == 1 && std::find(listed.begin(), listed.end(), i) != listed.end()) continue;
    sizes.push_back(x[i]);
    strides.push_back(own[i]);
  }
  c.set_view(Shape::Trusted(sizes), strides, 0);
  return absl::OkStatus();
}

void Grad(GradContext& g) { g.set_grad_input(0, Reshape(g.grad_output(), g.input_shape(0))); }

FIRN_REGISTER_OP(squeeze) {
  return ViewOp("squeeze", "A view without the dimensions of size 1 among dims (empty: all).",
                AttrsOf<SqueezeAttrs>(), Infer, Grad);
}

}  // namespace

Tensor Squeeze(const Tensor& x, const DimList& dims) {
  static const OpDef& op = Op("squeeze");
  return Apply1(op, {x}, SqueezeAttrs{dims});
}

}  // namespace firn
