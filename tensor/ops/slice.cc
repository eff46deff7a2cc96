// slice: a view of every step-th element of one dimension. Its gradient is scattered into zeros.

#include "tensor/ops/slice.h"

#include <algorithm>
#include <limits>

#include "tensor/apply.h"
#include "tensor/error.h"
#include "tensor/ops/flip.h"
#include "tensor/ops/slice_scatter.h"
#include "tensor/view.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const ResolvedSlice r, ResolveSlice(c.shape(0), c.attrs<SliceAttrs>()));
  Dims sizes = c.shape(0).dims();
  sizes[r.dim] = r.length;
  const Dims strides = ViewStrides(c.in(0));
  c.set_view(Shape::Trusted(sizes), SlicedStrides(strides, r), r.start * strides[r.dim]);
  return absl::OkStatus();
}

void Grad(GradContext& g) {
  const SliceAttrs& a = g.attrs<SliceAttrs>();
  const TensorSpec& x = g.input_spec(0);
  g.set_grad_input(0, SliceScatter(ExpandedZeros(x.shape, x.dtype, x.device), g.grad_output(),
                                   static_cast<int>(a.dim), a.start, a.end, a.step));
}

FIRN_REGISTER_OP(slice) {
  return ViewOp("slice", "x[start:end:step] along dim; step > 0.", AttrsOf<SliceAttrs>(), Infer,
                Grad);
}

// The same elements as x[start:end:step] with step < 0, taken from x flipped along `dim`.
Tensor SliceBackwards(const Tensor& x, const SliceAttrs& a) {
  CheckDefined(x, "slice");
  const absl::StatusOr<int> dim = NormalizeDim(a.dim, x.shape());
  RaiseIfError(dim.status(), "slice");
  if (x.rank() == 0)
    RaiseStatus(InvalidArgument("x is 0-d: it has no dimension to slice"), "slice");
  const int64_t n = x.shape()[*dim];
  const auto from_front = [n](int64_t p) { return p < 0 ? p + n : p; };
  const int64_t last = std::clamp<int64_t>(from_front(a.start), -1, n - 1);
  const int64_t before = a.end == kEnd ? -1 : std::clamp<int64_t>(from_front(a.end), -1, n - 1);
  const int64_t step = -std::max(a.step, -std::numeric_limits<int64_t>::max());
  return Slice(Flip(x, {*dim}), *dim, n - 1 - last, n - 1 - before, step);
}

}  // namespace

Tensor Slice(const Tensor& x, int dim, int64_t start, int64_t end, int64_t step) {
  static const OpDef& op = Op("slice");
  const SliceAttrs attrs{dim, start, end, step};
  if (step < 0) return SliceBackwards(x, attrs);
  return Apply1(op, {x}, attrs);
}

}  // namespace firn
