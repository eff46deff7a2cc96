#ifndef FIRN_TENSOR_OPS_RELU_FN_H_
#define FIRN_TENSOR_OPS_RELU_FN_H_

#include "device/macros.h"

namespace firn {

struct ReluFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return x < T{0} ? T{0} : x;
  }
};

struct ReluGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dy, T y) const {
    return y <= T{0} ? T{0} : dy;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RELU_FN_H_
