#ifndef FIRN_TENSOR_OPS_CEIL_FN_H_
#define FIRN_TENSOR_OPS_CEIL_FN_H_

#include <cmath>
#include <type_traits>

#include "device/macros.h"

namespace firn {

struct CeilFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::ceil(x);
    }
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CEIL_FN_H_
