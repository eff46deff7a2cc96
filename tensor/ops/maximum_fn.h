#ifndef FIRN_TENSOR_OPS_MAXIMUM_FN_H_
#define FIRN_TENSOR_OPS_MAXIMUM_FN_H_

#include "device/macros.h"

namespace firn {

struct MaximumFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return (x > y) | (x != x) ? x : y;
  }
};

struct MaximumGradFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T dz, T x, T y) const {
    const T share = x == y ? dz * T(0.5) : dz;
    return x < y ? T(0) : share;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MAXIMUM_FN_H_
