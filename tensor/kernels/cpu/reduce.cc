// Splitting a reduction's dimensions.

#include "tensor/kernels/cpu/reduce.h"

namespace firn::cpu {

ReducePlan PlanReduction(const TensorSpec& in, const ReduceAttrs& attrs) {
  ReducePlan p;
  bool reduced[kMaxRank] = {};
  const absl::StatusOr<Dims> dims = NormalizeDims(attrs.dims, in.shape);
  for (int64_t d : dims->span()) reduced[d] = true;  // infer has checked them
  for (int d = 0; d < in.shape.rank(); ++d) {
    Dims& sizes = reduced[d] ? p.reduced_sizes : p.kept_sizes;
    Dims& strides = reduced[d] ? p.reduced_strides : p.kept_strides;
    sizes.push_back(in.shape[d]);
    strides.push_back(in.layout.strides[d]);
    (reduced[d] ? p.reduced : p.kept) *= in.shape[d];
  }
  return p;
}

}  // namespace firn::cpu
