#ifndef FIRN_TENSOR_OPS_MUL_H_
#define FIRN_TENSOR_OPS_MUL_H_

#include "tensor/tensor.h"

namespace firn {

// x * y, broadcast; dtypes promote as PyTorch's.
Tensor Mul(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MUL_H_
