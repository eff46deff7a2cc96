#ifndef FIRN_TENSOR_OPS_CLONE_H_
#define FIRN_TENSOR_OPS_CLONE_H_

#include "tensor/tensor.h"

namespace firn {

// Always a copy, row-major (or blocked, if x is).
Tensor Clone(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CLONE_H_
