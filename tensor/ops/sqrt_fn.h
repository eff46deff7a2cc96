#ifndef FIRN_TENSOR_OPS_SQRT_FN_H_
#define FIRN_TENSOR_OPS_SQRT_FN_H_

#include <cmath>

#include "device/macros.h"

namespace firn {

struct SqrtFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return std::sqrt(x);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SQRT_FN_H_
