#ifndef FIRN_TENSOR_PROBLEMS_ADVANCED_INDEX_H_
#define FIRN_TENSOR_PROBLEMS_ADVANCED_INDEX_H_

// Several index tensors at once, NumPy's advanced indexing: what index, index_put and index_write
// share on every device.

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/tensor/op.h"

namespace firn {

// x[..., i, ..., j, ...]: index tensor k stands for dimension dims[k] of x, and all of them
// broadcast to one shape. If the dims are neighbours, that shape takes their place in the result,
// [before.., positions.., after..]; otherwise it comes first and nothing is before.
struct AdvancedIndex {
  Dims dims;           // ascending
  Dims before, after;  // the other dimensions of x
  Shape positions;
  Shape result;
};

// For a call whose index tensors are the inputs from `first` on.
template <class Context>
absl::StatusOr<AdvancedIndex> ResolveAdvancedIndex(const Shape& x, const Context& c, int first,
                                                   const DimList& dims);

// The values allowed in input i of such a call.
absl::StatusOr<IndexBounds> AdvancedIndexBounds(const KernelQuery& q, int i, int first,
                                                const DimList& dims);

namespace inner::internal {
absl::StatusOr<AdvancedIndex> Resolve(const Shape& x, absl::Span<const Shape* const> indices,
                                      const DimList& dims);
inline const Shape& ShapeOf(const InferContext& c, int i) { return c.shape(i); }
inline const Shape& ShapeOf(const KernelContext& k, int i) { return k.in_spec(i).shape; }
inline const Shape& ShapeOf(const KernelQuery& q, int i) { return q.in(i).shape; }
}  // namespace inner::internal

template <class Context>
absl::StatusOr<AdvancedIndex> ResolveAdvancedIndex(const Shape& x, const Context& c, int first,
                                                   const DimList& dims) {
  absl::InlinedVector<const Shape*, kMaxRank> shapes;  // more are refused
  for (int i = first; i < c.num_inputs(); ++i) shapes.push_back(&internal::ShapeOf(c, i));
  return internal::Resolve(x, shapes, dims);
}

}  // namespace firn

#endif  // FIRN_TENSOR_PROBLEMS_ADVANCED_INDEX_H_
