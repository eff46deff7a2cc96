#ifndef FIRN_TENSOR_PROBLEMS_REDUCTION_H_
#define FIRN_TENSOR_PROBLEMS_REDUCTION_H_

// Shape rules of reductions.

#include "firn/tensor/op.h"
#include "firn/tensor/problems/reduce_attrs.h"

namespace firn {

// The shape rule of a reduction with ReduceAttrs: output 0 of dtype `out`.
absl::Status InferReduction(InferContext& c, DType out);
// Like the above, for operations whose attributes are more than ReduceAttrs.
absl::Status InferReduction(InferContext& c, const ReduceAttrs& attrs, int output, DType out);
// An error when a result would be made of no elements, for reductions without an identity; `what`
// names the reduction: "the largest".
absl::Status RefuseEmptyReduction(const Shape& x, const ReduceAttrs& attrs, const char* what);
// The shape rule of amax and amin.
absl::Status InferExtreme(InferContext& c);
// The shape rule of argmax and argmin: output 0 is i64.
absl::Status InferArgReduction(InferContext& c);
// How many elements of `x` make one result.
int64_t ReducedCount(const Shape& x, const ReduceAttrs& attrs);
// `x`'s shape after reducing `dims` (normalised).
Shape ReducedShape(const Shape& x, const Dims& dims, bool keepdim);

}  // namespace firn

#endif  // FIRN_TENSOR_PROBLEMS_REDUCTION_H_
