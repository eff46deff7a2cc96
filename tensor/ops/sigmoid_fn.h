#ifndef FIRN_TENSOR_OPS_SIGMOID_FN_H_
#define FIRN_TENSOR_OPS_SIGMOID_FN_H_

#include "tensor/kernels/math.h"

namespace firn {

struct SigmoidFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return math::Sigmoid(x);
  }
};

struct SigmoidGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T y) const {
    return dy * (y * (T(1) - y));
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SIGMOID_FN_H_
