#ifndef FIRN_TENSOR_OPS_CEIL_H_
#define FIRN_TENSOR_OPS_CEIL_H_

#include "tensor/tensor.h"

namespace firn {

// The smallest integer not below x; integers stay as they are. The gradient is 0 everywhere.
Tensor Ceil(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CEIL_H_
