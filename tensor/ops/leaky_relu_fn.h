#ifndef FIRN_TENSOR_OPS_LEAKY_RELU_FN_H_
#define FIRN_TENSOR_OPS_LEAKY_RELU_FN_H_

#include "device/inner.h"
#include "device/macros.h"
#include "tensor/ops/leaky_relu.h"

namespace firn {

struct LeakyReluFn {
  using Attrs = LeakyReluAttrs;
  explicit LeakyReluFn(const LeakyReluAttrs& a) : alpha(a.alpha) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x > T(0) ? x : static_cast<T>(alpha) * x;
  }
  double alpha;
};

struct LeakyReluGradFn {
  using Attrs = LeakyReluAttrs;
  explicit LeakyReluGradFn(const LeakyReluAttrs& a) : alpha(a.alpha) {}
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    return x > T(0) ? dy : static_cast<T>(alpha) * dy;
  }
  double alpha;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LEAKY_RELU_FN_H_
