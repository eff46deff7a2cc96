#ifndef FIRN_TENSOR_OPS_LOG1P_H_
#define FIRN_TENSOR_OPS_LOG1P_H_

#include "tensor/tensor.h"

namespace firn {

// log(1 + x) without the loss of digits near 0. Integers and bools become f32.
Tensor Log1p(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOG1P_H_
