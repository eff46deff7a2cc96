#ifndef FIRN_TENSOR_OPS_LOGICAL_AND_H_
#define FIRN_TENSOR_OPS_LOGICAL_AND_H_

#include "tensor/tensor.h"

namespace firn {

// Whether x and y are both not 0, broadcast. Any dtype; the result is bool. NaN is not 0.
Tensor LogicalAnd(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOGICAL_AND_H_
