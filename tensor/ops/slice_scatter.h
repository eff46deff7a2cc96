#ifndef FIRN_TENSOR_OPS_SLICE_SCATTER_H_
#define FIRN_TENSOR_OPS_SLICE_SCATTER_H_

#include "tensor/ops/slice.h"
#include "tensor/tensor.h"

namespace firn {

// A copy of x in which x[start:end:step] along `dim` is replaced by `source`, which has that
// slice's shape and x's dtype. step > 0; positions as in Slice.
Tensor SliceScatter(const Tensor& x, const Tensor& source, int dim, int64_t start = 0,
                    int64_t end = kEnd, int64_t step = 1);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SLICE_SCATTER_H_
