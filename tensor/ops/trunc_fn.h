#ifndef FIRN_TENSOR_OPS_TRUNC_FN_H_
#define FIRN_TENSOR_OPS_TRUNC_FN_H_

#include <cmath>
#include <type_traits>

#include "device/macros.h"

namespace firn {

struct TruncFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::trunc(x);
    }
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_TRUNC_FN_H_
