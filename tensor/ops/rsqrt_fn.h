#ifndef FIRN_TENSOR_OPS_RSQRT_FN_H_
#define FIRN_TENSOR_OPS_RSQRT_FN_H_

#include <cmath>

#include "device/macros.h"

namespace firn {

struct RsqrtFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RSQRT_FN_H_
