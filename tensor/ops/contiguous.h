#ifndef FIRN_TENSOR_OPS_CONTIGUOUS_H_
#define FIRN_TENSOR_OPS_CONTIGUOUS_H_

#include "tensor/tensor.h"

namespace firn {

// x with its elements row-major without gaps; x itself when they are.
Tensor Contiguous(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CONTIGUOUS_H_
