#ifndef FIRN_TENSOR_OPS_L1_LOSS_FN_H_
#define FIRN_TENSOR_OPS_L1_LOSS_FN_H_

#include "device/macros.h"
#include "tensor/kernels/math.h"
#include "tensor/ops/reduction_mode.h"

namespace firn {

struct L1LossFn {
  using Attrs = LossAttrs;
  explicit L1LossFn(const Attrs&) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return math::Abs(x - y);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_L1_LOSS_FN_H_
