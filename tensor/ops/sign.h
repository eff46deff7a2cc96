#ifndef FIRN_TENSOR_OPS_SIGN_H_
#define FIRN_TENSOR_OPS_SIGN_H_

#include "tensor/tensor.h"

namespace firn {

// -1, 0 or 1; 0 for NaN. The gradient is 0 everywhere.
Tensor Sign(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SIGN_H_
