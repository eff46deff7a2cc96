#ifndef FIRN_TENSOR_OPS_SUM_TO_H_
#define FIRN_TENSOR_OPS_SUM_TO_H_

#include "tensor/tensor.h"

namespace firn {

// Sums x over the dimensions along which a tensor of `shape` was broadcast to x's shape: the
// adjoint of Expand. x itself when the shapes agree. Throws when `shape` does not broadcast to x's.
Tensor SumTo(const Tensor& x, const Shape& shape);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SUM_TO_H_
