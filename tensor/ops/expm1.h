#ifndef FIRN_TENSOR_OPS_EXPM1_H_
#define FIRN_TENSOR_OPS_EXPM1_H_

#include "tensor/tensor.h"

namespace firn {

// e^x - 1 without the loss of digits near 0. Integers and bools become f32.
Tensor Expm1(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_EXPM1_H_
