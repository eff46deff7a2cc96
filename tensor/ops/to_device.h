#ifndef FIRN_TENSOR_OPS_TO_DEVICE_H_
#define FIRN_TENSOR_OPS_TO_DEVICE_H_

#include "device/device.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct ToDeviceAttrs {
  DeviceType device_type = DeviceType::kCpu;
  int8_t device_index = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("device_type", device_type);
    v.Field("device_index", device_index);
  }
};
}  // namespace inner

// x on `device`, contiguous; x itself when it is there. A copy to a CUDA device is queued and not
// waited for; a copy to the CPU waits for what is queued on x's device. Throws kUnavailable when
// this build or machine has no such device.
Tensor ToDevice(const Tensor& x, Device device);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_TO_DEVICE_H_
