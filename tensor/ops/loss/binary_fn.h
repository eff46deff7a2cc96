#ifndef FIRN_TENSOR_OPS_LOSS_BINARY_FN_H_
#define FIRN_TENSOR_OPS_LOSS_BINARY_FN_H_

#include "firn/device/macros.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/ops/loss/binary_grad_fn.h"
#include "firn/tensor/problems/reduction_mode.h"

namespace firn {

struct BinaryCrossEntropyFn {
  using Attrs = LossAttrs;
  explicit BinaryCrossEntropyFn(const Attrs&) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T p, T target) const {
    return (target - 1) * CutOffLog(math::Log1p(-p)) - target * CutOffLog(math::Log(p));
  }
};

// max(x, 0) - x target + log(1 + exp(-|x|)).
struct BinaryCrossEntropyWithLogitsFn {
  using Attrs = LossAttrs;
  explicit BinaryCrossEntropyWithLogitsFn(const Attrs&) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T target) const {
    return (x < 0 ? T(0) : x) - x * target + math::Log1pOfFraction(math::Exp(-math::Abs(x)));
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_BINARY_FN_H_
