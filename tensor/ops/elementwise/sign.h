#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_SIGN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_SIGN_H_

#include "firn/tensor/tensor.h"

namespace firn {

// |x|. The gradient is 0 where x is 0.
Tensor Abs(const Tensor& x);

// -x. Integers wrap around (the smallest one is its own negative); bool is refused.
Tensor Neg(const Tensor& x);

// -1, 0 or 1; 0 for NaN. The gradient is 0 everywhere.
Tensor Sign(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_SIGN_H_
