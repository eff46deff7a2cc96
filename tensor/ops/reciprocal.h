#ifndef FIRN_TENSOR_OPS_RECIPROCAL_H_
#define FIRN_TENSOR_OPS_RECIPROCAL_H_

#include "tensor/tensor.h"

namespace firn {

// 1 / x. Integers and bools become f32.
Tensor Reciprocal(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RECIPROCAL_H_
