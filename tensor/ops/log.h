#ifndef FIRN_TENSOR_OPS_LOG_H_
#define FIRN_TENSOR_OPS_LOG_H_

#include "tensor/tensor.h"

namespace firn {

// The natural logarithm: -inf at 0, NaN below; nothing is clamped. Integers and bools become f32.
Tensor Log(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOG_H_
