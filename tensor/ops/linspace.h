#ifndef FIRN_TENSOR_OPS_LINSPACE_H_
#define FIRN_TENSOR_OPS_LINSPACE_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct LinspaceAttrs {
  double start = 0, end = 1;
  int64_t steps = 0;
  DType dtype = kDefaultFloat;
  DeviceType device_type = DeviceType::kCpu;
  int8_t device_index = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("start", start);
    v.Field("end", end);
    v.Field("steps", steps);
    v.Field("dtype", dtype);
    v.Field("device_type", device_type);
    v.Field("device_index", device_index);
  }
};
}  // namespace inner

// `steps` evenly spaced numbers from `start` to `end`, both included and exact; one step gives
// `start`. Integer dtypes take the numbers truncated towards zero. Throws when steps is negative.
Tensor Linspace(double start, double end, int64_t steps, DType dtype = kDefaultFloat,
                Device device = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINSPACE_H_
