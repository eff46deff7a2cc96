#ifndef FIRN_TENSOR_OPS_TRUNC_H_
#define FIRN_TENSOR_OPS_TRUNC_H_

#include "tensor/tensor.h"

namespace firn {

// x without its fraction; integers stay as they are. The gradient is 0 everywhere.
Tensor Trunc(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_TRUNC_H_
