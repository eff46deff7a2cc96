#ifndef FIRN_TENSOR_OPS_COS_H_
#define FIRN_TENSOR_OPS_COS_H_

#include "tensor/tensor.h"

namespace firn {

// The cosine of x in radians; right for arguments of any size. Integers and bools become f32.
Tensor Cos(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_COS_H_
