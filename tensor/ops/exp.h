#ifndef FIRN_TENSOR_OPS_EXP_H_
#define FIRN_TENSOR_OPS_EXP_H_

#include "tensor/tensor.h"

namespace firn {

// e to the power x. Integers and bools become f32.
Tensor Exp(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_EXP_H_
