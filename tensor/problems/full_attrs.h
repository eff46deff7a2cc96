#ifndef FIRN_TENSOR_PROBLEMS_FULL_ATTRS_H_
#define FIRN_TENSOR_PROBLEMS_FULL_ATTRS_H_

#include <cstdint>

#include "firn/device/device.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/number.h"
#include "firn/tensor/shape.h"

namespace firn::inner {

// The attributes of full: a tensor of one value.
struct FullAttrs {
  Dims shape;
  Number value = 0;
  DType dtype = kDefaultFloat;
  DeviceType device_type = DeviceType::kCpu;
  int8_t device_index = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("shape", shape);
    value.Visit(v, "value", "value_rest");
    v.Field("dtype", dtype);
    v.Field("device_type", device_type);
    v.Field("device_index", device_index);
  }
};

}  // namespace firn::inner

#endif  // FIRN_TENSOR_PROBLEMS_FULL_ATTRS_H_
