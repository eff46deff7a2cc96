#ifndef FIRN_TENSOR_OPS_ABS_H_
#define FIRN_TENSOR_OPS_ABS_H_

#include "tensor/tensor.h"

namespace firn {

// |x|. The gradient is 0 where x is 0.
Tensor Abs(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ABS_H_
