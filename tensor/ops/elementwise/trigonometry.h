#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_H_

#include "tensor/tensor.h"

namespace firn {

// The sine of x in radians; right for arguments of any size. Integers and bools become f32.
Tensor Sin(const Tensor& x);

// The cosine of x in radians; right for arguments of any size. Integers and bools become f32.
Tensor Cos(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_TRIGONOMETRY_H_
