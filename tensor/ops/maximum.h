#ifndef FIRN_TENSOR_OPS_MAXIMUM_H_
#define FIRN_TENSOR_OPS_MAXIMUM_H_

#include "tensor/tensor.h"

namespace firn {

// The larger of x and y, broadcast; NaN where either is. Where both are equal each gets half of the
// gradient. Any dtype; dtypes promote as PyTorch's.
Tensor Maximum(const Tensor& x, const Tensor& y);

namespace inner {
// The gradient to x: dz where x > y (or a NaN is involved), half of it where x = y, 0 where x < y.
Tensor MaximumGrad(const Tensor& dz, const Tensor& x, const Tensor& y);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MAXIMUM_H_
