#ifndef FIRN_TENSOR_OPS_IDENTITY_H_
#define FIRN_TENSOR_OPS_IDENTITY_H_

#include "tensor/tensor.h"

namespace firn {

// A second name for x's elements, recorded as an operation.
Tensor Identity(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_IDENTITY_H_
