#ifndef FIRN_TENSOR_OPS_GATHER_H_
#define FIRN_TENSOR_OPS_GATHER_H_

#include "tensor/ops/unsqueeze.h"
#include "tensor/tensor.h"

namespace firn {

// y[a.., i, b..] = x[a.., indices[a.., i, b..], b..], `i` standing at dimension `dim` (NumPy's
// take_along_axis). x and indices (i32 or i64) have as many dimensions; indices may be smaller
// outside `dim`. Negative indices count from the end. Throws on an index outside x's dimension.
Tensor Gather(const Tensor& x, int dim, const Tensor& indices);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_GATHER_H_
