#ifndef FIRN_TENSOR_OPS_LOSS_BINARY_GRAD_FN_H_
#define FIRN_TENSOR_OPS_LOSS_BINARY_GRAD_FN_H_

// Separate from binary_fn.h, whose functors have options of losses, because this one is also
// compiled into chains of elementwise operations, where only options of elementwise operations are
// declared.

#include "firn/device/macros.h"
#include "firn/tensor/kernels/math.h"

namespace firn {

struct BinaryCrossEntropyGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T p, T target, T flow) const {
    const T spread = p * (T(1) - p), least = static_cast<T>(1e-12);
    return flow * (p - target) / (spread < least ? least : spread);
  }
};

// Logarithms of a loss end at -100.
template <class T>
FIRN_HOST_DEVICE T CutOffLog(T log) {
  return log < static_cast<T>(-100) ? static_cast<T>(-100) : log;
}

// The gradient to the target: -flow * (log p - log(1 - p)), where logarithms are cut off as in the
// loss.
struct BinaryCrossEntropyTargetGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T p, T flow) const {
    return flow * (CutOffLog(math::Log1p(-p)) - CutOffLog(math::Log(p)));
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_BINARY_GRAD_FN_H_
