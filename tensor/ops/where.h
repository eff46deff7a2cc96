#ifndef FIRN_TENSOR_OPS_WHERE_H_
#define FIRN_TENSOR_OPS_WHERE_H_

#include "tensor/tensor.h"

namespace firn {

// x where the condition holds, else y; all three broadcast, x and y may be numbers and promote as
// PyTorch's. The condition is bool. The gradient of what was not chosen is exactly 0, whatever its
// value.
Tensor Where(const Tensor& condition, const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_WHERE_H_
