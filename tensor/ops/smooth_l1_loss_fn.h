#ifndef FIRN_TENSOR_OPS_SMOOTH_L1_LOSS_FN_H_
#define FIRN_TENSOR_OPS_SMOOTH_L1_LOSS_FN_H_

#include "device/macros.h"
#include "tensor/kernels/math.h"
#include "tensor/ops/smooth_l1_loss.h"

namespace firn {

struct SmoothL1LossFn {
  using Attrs = SmoothL1LossAttrs;
  double beta;
  explicit SmoothL1LossFn(const Attrs& a) : beta(a.beta) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    const T d = math::Abs(x - y), b = static_cast<T>(beta);
    const T half = static_cast<T>(0.5);
    return d < b ? half * d * d / b : d - half * b;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SMOOTH_L1_LOSS_FN_H_
