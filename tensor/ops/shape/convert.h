#ifndef FIRN_TENSOR_OPS_SHAPE_CONVERT_H_
#define FIRN_TENSOR_OPS_SHAPE_CONVERT_H_

#include <cstdint>

#include "firn/device/device.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct CastAttrs {
  DType dtype = kDefaultFloat;
  template <class V>
  void Visit(V& v) {
    v.Field("dtype", dtype);
  }
};
}  // namespace inner

// The elements converted to `dtype`; x itself when it has it. Floats outside an integer's range
// saturate, NaN becomes 0, anything but zero is true. The gradient is cast back; none passes
// integers.
Tensor Cast(const Tensor& x, DType dtype);

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

namespace inner {
// For the operation reorder: a copy of x in another layout, row-major or with channels in blocks.
// No function calls it: Apply arranges arguments, and graphs call it where they do so once for all
// runs.
struct ReorderAttrs {
  int64_t channel_block = 0;  // 0: row-major
  template <class V>
  void Visit(V& v) {
    v.Field("channel_block", channel_block);
  }
};
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SHAPE_CONVERT_H_
