#ifndef FIRN_TENSOR_OPS_FLOOR_H_
#define FIRN_TENSOR_OPS_FLOOR_H_

#include "tensor/tensor.h"

namespace firn {

// The largest integer not above x; integers stay as they are. The gradient is 0 everywhere.
Tensor Floor(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_FLOOR_H_
