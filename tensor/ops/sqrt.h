#ifndef FIRN_TENSOR_OPS_SQRT_H_
#define FIRN_TENSOR_OPS_SQRT_H_

#include "tensor/tensor.h"

namespace firn {

// The square root; NaN below 0. The gradient at 0 is infinite. Integers and bools become f32.
Tensor Sqrt(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SQRT_H_
