#ifndef FIRN_TENSOR_KERNELS_REDUCE_PLAN_H_
#define FIRN_TENSOR_KERNELS_REDUCE_PLAN_H_

#include <cstdint>

#include "absl/types/span.h"
#include "firn/tensor/op.h"

namespace firn {

// Results that are computed at a time, where the inner loop runs over results.
inline constexpr int64_t kReduceColumns = 1024;
// The fewest elements of a block, where there are several.
inline constexpr int64_t kLeastReduceBlock = 256;

// How to walk a reduction: the kept dimensions and the reduced ones, the latter in order of stride,
// with neighbours merged where strides allow. Strides are in elements.
struct ReducePlan {
  Dims kept_sizes, kept_strides, reduced_sizes, reduced_strides;
  int64_t kept = 1, reduced = 1;
  // Inner loops run along the last reduced dimension, or along the last kept one over many results
  // at once.
  bool columns = false;
  // The reduced elements of each result (rows: of `reduced`, in order) are cut into so many blocks
  // of so many elements.
  int64_t blocks = 1, block = 1;

  int64_t last_kept() const { return kept_sizes.rank > 0 ? kept_sizes[kept_sizes.rank - 1] : 1; }
};
// `dims`: as in ReduceAttrs. Requires: infer has accepted them.
ReducePlan PlanReduction(const TensorSpec& in, absl::Span<const int64_t> dims);

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_REDUCE_PLAN_H_
