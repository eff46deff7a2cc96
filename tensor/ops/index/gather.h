#ifndef FIRN_TENSOR_OPS_INDEX_GATHER_H_
#define FIRN_TENSOR_OPS_INDEX_GATHER_H_

#include "firn/tensor/tensor.h"

namespace firn {

// y[a.., i, b..] = x[a.., indices[a.., i, b..], b..], `i` standing at dimension `dim` (NumPy's
// take_along_axis). x and indices (i32 or i64) have as many dimensions; indices may be smaller
// outside `dim`. Negative indices count from the end. Throws on an index outside x's dimension.
Tensor Gather(const Tensor& x, inner::Integer dim, const Tensor& indices);

// A copy y of x to which source is added at the places that indices give:
//   y[a.., indices[a.., i, b..], b..] += source[a.., i, b..], `i` standing at dimension `dim`.
// x, indices (i32 or i64) and source (of x's dtype) have as many dimensions; source is at least as
// large as indices, x outside `dim` too. Negative indices count from the end. Sums do not depend on
// the number of threads. Throws on an index outside x's dimension.
Tensor ScatterAdd(const Tensor& x, inner::Integer dim, const Tensor& indices, const Tensor& source);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_GATHER_H_
