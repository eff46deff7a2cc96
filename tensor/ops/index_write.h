#ifndef FIRN_TENSOR_OPS_INDEX_WRITE_H_
#define FIRN_TENSOR_OPS_INDEX_WRITE_H_

#include "tensor/ops/index.h"
#include "tensor/tensor.h"

namespace firn::inner {

// Overwrites target's elements at `indices`, in place, with `values`, which broadcast to the shape
// of Index(target, indices) and are converted to its dtype: what x[indices] = values does. Throws
// while the gradient of either is being recorded; IndexPut is the operation with a gradient.
void IndexWrite(const Tensor& target, const IndexArrays& indices, const Tensor& values);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_INDEX_WRITE_H_
