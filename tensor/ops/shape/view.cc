// Strides of views.
//
// Strides of a new shape: group the old dimensions into runs that are contiguous among themselves;
// a new dimension must lie within one run. Without such strides the elements are copied first.

#include "firn/tensor/ops/shape/view.h"

#include <algorithm>

#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/expand.h"

namespace firn {

Dims ViewStrides(const TensorSpec& x) {
  return x.layout.blocked() ? ContiguousStrides(x.shape) : x.layout.strides;
}

std::optional<Dims> ReshapedStrides(const TensorSpec& from, const Shape& to) {
  if (from.dense()) return ContiguousStrides(to);  // blocked: copied to row-major by Apply
  if (from.num_elements() == 0) return ContiguousStrides(to);
  Dims sizes, steps;  // of `from`, without dimensions of size 1: their strides mean nothing
  for (int i = 0; i < from.shape.rank(); ++i) {
    if (from.shape[i] == 1) continue;
    sizes.push_back(from.shape[i]);
    steps.push_back(from.layout.strides[i]);
  }
  Dims strides(to.rank(), 1);
  int t = to.rank() - 1;
  for (int f = sizes.rank - 1; f >= 0; --f) {
    const int64_t step = steps[f];
    int64_t run = sizes[f];  // elements in the run of old dimensions that ends here
    for (; f > 0 && steps[f - 1] == step * run; --f) run *= sizes[f - 1];
    int64_t filled = 1;
    for (; t >= 0 && filled < run; --t) {
      strides[t] = step * filled;
      filled *= to[t];
    }
    if (filled != run) return std::nullopt;
  }
  return strides;
}

absl::StatusOr<ResolvedSlice> ResolveSlice(const Shape& x, const SliceAttrs& attrs) {
  FIRN_RETURN_IF(x.rank() == 0, InvalidArgument("x is 0-d: it has no dimension to slice"));
  FIRN_ASSIGN_OR_RETURN(const int dim, NormalizeDim(attrs.dim, x));
  FIRN_RETURN_IF(attrs.step <= 0, InvalidArgument("step ", attrs.step, " is not positive"));
  const int64_t n = x[dim];
  const auto position = [n](int64_t p) { return std::clamp<int64_t>(p < 0 ? p + n : p, 0, n); };
  const int64_t start = position(attrs.start);
  const int64_t span = std::max<int64_t>(position(attrs.end) - start, 0);
  const int64_t length = span == 0 ? 0 : (span - 1) / attrs.step + 1;
  return ResolvedSlice{dim, start, length, attrs.step};
}

Dims SlicedStrides(Dims strides, const ResolvedSlice& slice) {
  if (slice.length > 1) strides[slice.dim] *= slice.step;  // else it means nothing and may overflow
  return strides;
}

OpDef ViewOp(std::string_view doc, const AttrsType* attrs, InferFn infer, GradFn grad) {
  return {
      .doc = doc,
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "y"}},
      .attrs = attrs,
      .infer = infer,
      .grad = grad,
      .is_view = true,
  };
}

Tensor ExpandedZeros(const Shape& shape, DType dtype, Device device) {
  return Expand(Zeros(Shape(), dtype, device), shape);
}

}  // namespace firn
