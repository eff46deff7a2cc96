#ifndef FIRN_TENSOR_OPS_GE_H_
#define FIRN_TENSOR_OPS_GE_H_

#include "tensor/tensor.h"

namespace firn {

// True where x is at least y, broadcast, in their promoted dtype; an integer number that an integer
// tensor's dtype cannot hold is compared exactly. False where either is NaN. Operator `>=`.
Tensor Ge(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_GE_H_
