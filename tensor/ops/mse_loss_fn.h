#ifndef FIRN_TENSOR_OPS_MSE_LOSS_FN_H_
#define FIRN_TENSOR_OPS_MSE_LOSS_FN_H_

#include "device/inner.h"
#include "device/macros.h"
#include "tensor/ops/reduction_mode.h"

namespace firn {

struct MseLossFn {
  using Attrs = LossAttrs;
  explicit MseLossFn(const Attrs&) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return (x - y) * (x - y);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MSE_LOSS_FN_H_
