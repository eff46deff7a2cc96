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

// |x| with the sign of y, whose zeros have signs too; broadcast. No gradient flows to y, and where
// x is 0 none to x. Dtypes promote as PyTorch's; integers and bools become f32.
Tensor Copysign(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_SIGN_H_
