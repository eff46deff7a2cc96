#ifndef FIRN_TENSOR_OPS_ARGMIN_H_
#define FIRN_TENSOR_OPS_ARGMIN_H_

#include "tensor/tensor.h"

namespace firn {

// The index (i64) of the first smallest element; NaN counts as smaller than any number. Without a
// dimension, the index into the row-major elements. Any dtype. Throws when there are no elements to
// choose from. Not differentiable.
Tensor Argmin(const Tensor& x);
Tensor Argmin(const Tensor& x, int64_t dim, bool keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ARGMIN_H_
