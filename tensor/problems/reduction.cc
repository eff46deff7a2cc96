// Shape rules of reductions: the dimensions that are reduced go, or stay with size 1.

#include "firn/tensor/problems/reduction.h"

namespace firn {

Shape ReducedShape(const Shape& x, const Dims& dims, bool keepdim) {
  bool reduced[kMaxRank] = {};
  for (int64_t d : dims.span()) reduced[d] = true;
  Dims out;
  for (int i = 0; i < x.rank(); ++i) {
    if (!reduced[i]) {
      out.push_back(x[i]);
    } else if (keepdim) {
      out.push_back(1);
    }
  }
  return Shape::Trusted(out);
}

absl::Status InferReduction(InferContext& c, const ReduceAttrs& a, int output, DType out) {
  FIRN_ASSIGN_OR_RETURN(const Dims dims, NormalizeDims(a.dims, c.shape(0)));
  c.set_out(output, out, ReducedShape(c.shape(0), dims, a.keepdim));
  return absl::OkStatus();
}

absl::Status InferReduction(InferContext& c, DType out) {
  return InferReduction(c, c.attrs<ReduceAttrs>(), 0, out);
}

int64_t ReducedCount(const Shape& x, const ReduceAttrs& attrs) {
  int64_t count = 1;
  if (const absl::StatusOr<Dims> dims = NormalizeDims(attrs.dims, x); dims.ok()) {
    for (int64_t d : dims->span()) count *= x[static_cast<int>(d)];
  }
  return count;
}

absl::Status RefuseEmptyReduction(const Shape& x, const ReduceAttrs& attrs, const char* what) {
  FIRN_RETURN_IF(ReducedCount(x, attrs) == 0,
                 InvalidArgument("x ", x.ToString(), " has no elements to take ", what, " of"));
  return absl::OkStatus();
}

absl::Status InferExtreme(InferContext& c) {
  FIRN_RETURN_IF_ERROR(InferReduction(c, c.dtype(0)));
  return RefuseEmptyReduction(c.shape(0), c.attrs<ReduceAttrs>(), "the extreme");
}

absl::Status InferArgReduction(InferContext& c) {
  const ArgReduceAttrs& a = c.attrs<ArgReduceAttrs>();
  ReduceAttrs over{{}, a.keepdim};
  if (!a.flatten) over.dims.push_back(a.dim);
  FIRN_RETURN_IF_ERROR(InferReduction(c, over, 0, DType::kI64));
  return RefuseEmptyReduction(c.shape(0), over, "an index");
}

}  // namespace firn
