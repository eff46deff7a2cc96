#ifndef FIRN_TENSOR_OPS_REDUCE_POSITION_H_
#define FIRN_TENSOR_OPS_REDUCE_POSITION_H_

#include "firn/tensor/problems/reduce_attrs.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The index (i64) of the first largest element; NaN counts as larger than any number. Without a
// dimension, the index into the row-major elements. Any dtype. Throws when there are no elements to
// choose from. Not differentiable.
Tensor Argmax(const Tensor& x);
Tensor Argmax(const Tensor& x, inner::Integer dim, inner::Flag keepdim = false);

// The index (i64) of the first smallest element; NaN counts as smaller than any number. Without a
// dimension, the index into the row-major elements. Any dtype. Throws when there are no elements to
// choose from. Not differentiable.
Tensor Argmin(const Tensor& x);
Tensor Argmin(const Tensor& x, inner::Integer dim, inner::Flag keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_POSITION_H_
