#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_EXTREMES_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_EXTREMES_H_

#include "firn/tensor/tensor.h"

namespace firn {

// The larger of x and y, broadcast; NaN where either is. Where both are equal each gets half of the
// gradient. Any dtype; dtypes promote as PyTorch's. For a number and an integer tensor see Clamp.
Tensor Maximum(const Tensor& x, const Tensor& y);

namespace inner {
// The gradient to x: dz where x > y (or a NaN is involved), half of it where x = y, 0 where x < y.
Tensor MaximumGrad(const Tensor& dz, const Tensor& x, const Tensor& y);
}  // namespace inner

// The smaller of x and y, broadcast; NaN where either is. Where both are equal each gets half of
// the gradient. Any dtype; dtypes promote as PyTorch's. For a number and an integer tensor see
// Clamp.
Tensor Minimum(const Tensor& x, const Tensor& y);

// x cut off at `min` and `max`, broadcast. Each bound is a number, a tensor or absent ({}); at
// least one must be given. dtypes promote as PyTorch's. Where min > max the result is max; NaN
// stays. The gradient to x is 1 on the closed interval; a bound gets the gradient of the elements
// that it replaced. With integers, a number beyond the dtype's range cuts nothing off; one that
// would replace all elements, such as a `min` of 300 for u8, throws.
Tensor Clamp(const Tensor& x, const Tensor& min, const Tensor& max = {});

namespace inner {
// The gradient to x: dy where min <= x <= max, else 0.
Tensor ClampGrad(const Tensor& dy, const Tensor& x, const Tensor& min, const Tensor& max);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_EXTREMES_H_
