#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_H_

#include "tensor/tensor.h"

namespace firn {

// e to the power x. Integers and bools become f32.
Tensor Exp(const Tensor& x);

// e^x - 1 without the loss of digits near 0. Integers and bools become f32.
Tensor Expm1(const Tensor& x);

// The natural logarithm: -inf at 0, NaN below; nothing is clamped. Integers and bools become f32.
Tensor Log(const Tensor& x);

// log(1 + x) without the loss of digits near 0. Integers and bools become f32.
Tensor Log1p(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_H_
