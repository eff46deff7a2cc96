#ifndef FIRN_TENSOR_OPS_SQUARE_H_
#define FIRN_TENSOR_OPS_SQUARE_H_

#include "tensor/tensor.h"

namespace firn {

// x * x. Integers wrap around.
Tensor Square(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SQUARE_H_
