#ifndef FIRN_TENSOR_OPS_NE_H_
#define FIRN_TENSOR_OPS_NE_H_

#include "tensor/tensor.h"

namespace firn {

// True where x differs from y, broadcast, in their promoted dtype; an integer number that an
// integer tensor's dtype cannot hold is compared exactly. NaN differs from everything. Operator
// `!=`.
Tensor Ne(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_NE_H_
