#ifndef FIRN_TENSOR_OPS_SHAPE_VIEW_H_
#define FIRN_TENSOR_OPS_SHAPE_VIEW_H_

// Parts shared by views: operations whose result lies in their input's storage.

#include <optional>

#include "firn/tensor/op.h"
#include "firn/tensor/ops/shape/slices.h"

namespace firn {

// The strides of a view's input: its own, or those of the row-major copy that Apply makes of a
// blocked tensor.
Dims ViewStrides(const TensorSpec& x);

// The strides with which `to` walks the memory of `from`, or nothing when that takes a copy.
// Requires: equally many elements.
std::optional<Dims> ReshapedStrides(const TensorSpec& from, const Shape& to);

// A slice of one dimension, resolved: elements start, start + step, ... (`length` of them).
struct ResolvedSlice {
  int dim = 0;
  int64_t start = 0, length = 0, step = 1;
};
// An error unless x has the dimension and step > 0.
absl::StatusOr<ResolvedSlice> ResolveSlice(const Shape& x, const SliceAttrs& attrs);
// `strides` of a tensor with every step-th element of a dimension left.
Dims SlicedStrides(Dims strides, const ResolvedSlice& slice);

// The definition of a view of one tensor.
OpDef ViewOp(std::string_view doc, const AttrsType* attrs, InferFn infer, GradFn grad);

// Zeros that occupy one element, into which a gradient is scattered.
Tensor ExpandedZeros(const Shape& shape, DType dtype, Device device);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_VIEW_H_
