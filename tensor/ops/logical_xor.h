#ifndef FIRN_TENSOR_OPS_LOGICAL_XOR_H_
#define FIRN_TENSOR_OPS_LOGICAL_XOR_H_

#include "tensor/tensor.h"

namespace firn {

// Whether just one of x and y is not 0, broadcast. Any dtype; the result is bool. NaN is not 0.
Tensor LogicalXor(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOGICAL_XOR_H_
