#ifndef FIRN_TENSOR_OPS_SILU_FN_H_
#define FIRN_TENSOR_OPS_SILU_FN_H_

#include "tensor/kernels/math.h"

namespace firn {

struct SiluFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x * math::Sigmoid(x);
  }
};

struct SiluGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T x) const {
    const T s = math::Sigmoid(x);
    return dy * (s * (T(1) + x * (T(1) - s)));
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SILU_FN_H_
