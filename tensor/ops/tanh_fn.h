#ifndef FIRN_TENSOR_OPS_TANH_FN_H_
#define FIRN_TENSOR_OPS_TANH_FN_H_

#include "tensor/kernels/math.h"

namespace firn {

struct TanhFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Tanh(x);
  }
};

struct TanhGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T y) const {
    return dy * (T(1) - y * y);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_TANH_FN_H_
