#ifndef FIRN_TENSOR_PROBLEMS_INDEX_RULES_H_
#define FIRN_TENSOR_PROBLEMS_INDEX_RULES_H_

// Shape rules of the operations that take indices, shared by every device.

#include <initializer_list>

#include "firn/tensor/op.h"
#include "firn/tensor/problems/index_attrs.h"

namespace firn {

// A tensor indexed along one dimension, seen as x [batch, outer, n, inner], indices [batch, count]
// and the selection [batch, outer, count, inner].
struct IndexPlan {
  int64_t batch = 1, outer = 1, n = 1, inner = 1, count = 1;
  int64_t ignored = kNoIndex;
  Shape selection;
};
absl::StatusOr<IndexPlan> PlanIndex(const Shape& x, const Shape& indices,
                                    const IndexSelectAttrs& attrs);

// The dimension `dim` of tensors that are indexed element by element: all of one rank, and outside
// that dimension at least as large as the indices.
struct NamedShape {
  const char* name;
  const Shape* shape;
};
absl::StatusOr<int> ResolveElementIndex(int64_t dim, const Shape& indices,
                                        std::initializer_list<NamedShape> tensors);

// [-n, n): indices into a dimension of n elements, negative ones counted from its end.
inline IndexBounds WrappingBounds(int64_t n) { return {-n, n}; }

// OK when all inputs but the first are contiguous, for a kernel that walks input 0 by its strides
// (zeros to which a gradient is added) but the others in order.
absl::Status OthersContiguous(const KernelQuery& q);

}  // namespace firn

#endif  // FIRN_TENSOR_PROBLEMS_INDEX_RULES_H_
