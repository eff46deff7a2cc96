#ifndef FIRN_TENSOR_OPS_MAX_H_
#define FIRN_TENSOR_OPS_MAX_H_

#include "tensor/ops/amax.h"
#include "tensor/ops/values_and_indices.h"

namespace firn {

// The largest element along `dim` and its index; NaN counts as larger than any number, and the
// first of equal elements is taken. The gradient goes to that element only (Amax shares it). Any
// dtype. Throws when there are no elements to choose from.
ValuesAndIndices Max(const Tensor& x, int64_t dim, bool keepdim = false);
// The largest element of all: Amax(x).
inline Tensor Max(const Tensor& x) { return Amax(x); }

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MAX_H_
