#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_H_

// Remainders of divisions. Dtypes promote as PyTorch's; bool is refused. Both throw on an integer
// division by 0; floats give NaN.

#include "firn/tensor/tensor.h"

namespace firn {

// x - y * floor(x / y), broadcast: the remainder of x with the sign of y, like Python's %. Operator
// `%`.
Tensor Remainder(const Tensor& x, const Tensor& y);

// x - y * trunc(x / y), broadcast: the remainder of x with the sign of x, like C's % and fmod.
Tensor Fmod(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_MODULO_H_
