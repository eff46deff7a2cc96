#ifndef FIRN_TENSOR_OPS_EQ_H_
#define FIRN_TENSOR_OPS_EQ_H_

#include "tensor/tensor.h"

namespace firn {

// True where x equals y, broadcast, in their promoted dtype; an integer number that an integer
// tensor's dtype cannot hold is compared exactly. NaN equals nothing. Tensor::Equals compares whole
// tensors. Operator `==`.
Tensor Eq(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_EQ_H_
