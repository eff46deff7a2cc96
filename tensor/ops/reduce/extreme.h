#ifndef FIRN_TENSOR_OPS_REDUCE_EXTREME_H_
#define FIRN_TENSOR_OPS_REDUCE_EXTREME_H_

#include "firn/tensor/dim_list.h"
#include "firn/tensor/ops/reduce/values_and_indices.h"

namespace firn {

// The largest element over `dims` (empty: all); NaN where there is one. Elements that tie for it
// share the gradient evenly. Any dtype. Throws when there are no elements to choose from.
Tensor Amax(const Tensor& x, const DimList& dims = {}, inner::Flag keepdim = false);

// The smallest element over `dims` (empty: all); NaN where there is one. Elements that tie for it
// share the gradient evenly. Any dtype. Throws when there are no elements to choose from.
Tensor Amin(const Tensor& x, const DimList& dims = {}, inner::Flag keepdim = false);

// The largest element along `dim` and its index; NaN counts as larger than any number, and the
// first of equal elements is taken. The gradient goes to that element only (Amax shares it). Any
// dtype. Throws when there are no elements to choose from.
ValuesAndIndices Max(const Tensor& x, inner::Integer dim, inner::Flag keepdim = false);
// The largest element of all: Amax(x).
inline Tensor Max(const Tensor& x) { return Amax(x); }

// The smallest element along `dim` and its index; NaN comes before any number, and the first of
// equal elements is taken. The gradient goes to that element only (Amin shares it). Any dtype.
// Throws when there are no elements to choose from.
ValuesAndIndices Min(const Tensor& x, inner::Integer dim, inner::Flag keepdim = false);
// The smallest element of all: Amin(x).
inline Tensor Min(const Tensor& x) { return Amin(x); }

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_EXTREME_H_
