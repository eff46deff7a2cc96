#ifndef FIRN_TENSOR_OPS_LOGICAL_NOT_H_
#define FIRN_TENSOR_OPS_LOGICAL_NOT_H_

#include "tensor/tensor.h"

namespace firn {

// True where x is 0 or false. Any dtype; the result is bool. Operator `!`.
Tensor LogicalNot(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOGICAL_NOT_H_
