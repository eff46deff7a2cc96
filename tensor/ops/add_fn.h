#ifndef FIRN_TENSOR_OPS_ADD_FN_H_
#define FIRN_TENSOR_OPS_ADD_FN_H_

#include "device/simd.h"

namespace firn {

struct AddFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x + y);
  }
};

struct AddScaledFn {
  double alpha;
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y) const {
    return static_cast<T>(x + static_cast<T>(alpha) * y);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ADD_FN_H_
