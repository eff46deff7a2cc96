#ifndef FIRN_TENSOR_OPS_MIN_H_
#define FIRN_TENSOR_OPS_MIN_H_

#include "tensor/ops/amin.h"
#include "tensor/ops/values_and_indices.h"

namespace firn {

// The smallest element along `dim` and its index; NaN comes before any number, and the first of
// equal elements is taken. The gradient goes to that element only (Amin shares it). Any dtype.
// Throws when there are no elements to choose from.
ValuesAndIndices Min(const Tensor& x, int64_t dim, bool keepdim = false);
// The smallest element of all: Amin(x).
inline Tensor Min(const Tensor& x) { return Amin(x); }

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MIN_H_
