#ifndef FIRN_TENSOR_OPS_TO_DEVICE_H_
#define FIRN_TENSOR_OPS_TO_DEVICE_H_

#include "tensor/tensor.h"

namespace firn {

// x on `device`; x itself when it is there. Throws kUnavailable when this build or machine has no
// such device.
Tensor ToDevice(const Tensor& x, Device device);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_TO_DEVICE_H_
