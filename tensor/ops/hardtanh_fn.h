#ifndef FIRN_TENSOR_OPS_HARDTANH_FN_H_
#define FIRN_TENSOR_OPS_HARDTANH_FN_H_

#include "device/inner.h"
#include "device/macros.h"
#include "tensor/ops/hardtanh.h"

namespace firn {

struct HardtanhFn {
  using Attrs = HardtanhAttrs;
  explicit HardtanhFn(const HardtanhAttrs& a) : min(a.min), max(a.max) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    const T low = static_cast<T>(min), high = static_cast<T>(max);
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
  double min, max;
};

struct HardtanhGradFn {
  using Attrs = HardtanhAttrs;
  explicit HardtanhGradFn(const HardtanhAttrs& a) : min(a.min), max(a.max) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const bool outside = (x <= static_cast<T>(min)) | (x >= static_cast<T>(max));
    return outside ? T(0) : dy;
  }
  double min, max;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_HARDTANH_FN_H_
