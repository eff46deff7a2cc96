#ifndef FIRN_TENSOR_OPS_MINIMUM_H_
#define FIRN_TENSOR_OPS_MINIMUM_H_

#include "tensor/tensor.h"

namespace firn {

// The smaller of x and y, broadcast; NaN where either is. Where both are equal each gets half of
// the gradient. Any dtype; dtypes promote as PyTorch's.
Tensor Minimum(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MINIMUM_H_
