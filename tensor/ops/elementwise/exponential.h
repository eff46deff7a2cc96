#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_H_

#include "firn/tensor/tensor.h"

namespace firn {

// e to the power x. Integers and bools become f32.
Tensor Exp(const Tensor& x);

// 2 to the power x. Integers and bools become f32.
Tensor Exp2(const Tensor& x);

// e^x - 1 without the loss of digits near 0. Integers and bools become f32.
Tensor Expm1(const Tensor& x);

// The natural logarithm: -inf at 0, NaN below; nothing is clamped. Integers and bools become f32.
Tensor Log(const Tensor& x);

// log(1 + x) without the loss of digits near 0. Integers and bools become f32.
Tensor Log1p(const Tensor& x);

// The logarithm to base 2: -inf at 0, NaN below. Integers and bools become f32.
Tensor Log2(const Tensor& x);

// The logarithm to base 10: -inf at 0, NaN below. Integers and bools become f32.
Tensor Log10(const Tensor& x);

// log(e^x + e^y), broadcast, for x and y of any size: e^x may exceed the dtype. Dtypes promote as
// PyTorch's; integers and bools become f32.
Tensor Logaddexp(const Tensor& x, const Tensor& y);

// x log(y), broadcast, and 0 where x is 0 unless y is NaN (torch.xlogy): entropies are sums of
// these. Where x is 0 and y is infinite or not above 0, no gradient flows. Dtypes promote as
// PyTorch's; integers and bools become f32.
Tensor Xlogy(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_EXPONENTIAL_H_
