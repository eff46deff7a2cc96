#ifndef FIRN_TENSOR_OPS_RSQRT_H_
#define FIRN_TENSOR_OPS_RSQRT_H_

#include "tensor/tensor.h"

namespace firn {

// 1 / sqrt(x): inf at 0, NaN below. Integers and bools become f32.
Tensor Rsqrt(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RSQRT_H_
