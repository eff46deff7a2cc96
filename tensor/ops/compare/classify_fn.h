#ifndef FIRN_TENSOR_OPS_COMPARE_CLASSIFY_FN_H_
#define FIRN_TENSOR_OPS_COMPARE_CLASSIFY_FN_H_

#include <limits>
#include <type_traits>

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/ops/compare/classify.h"

namespace firn {

struct IsnanFn {
  FIRN_HOST_DEVICE bool operator()(auto x) const { return x != x; }
};

struct IsinfFn : IsinfAttrs {
  using Attrs = IsinfAttrs;
  template <class T>
  FIRN_HOST_DEVICE bool operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return false;
    } else {
      constexpr T kInfinity = std::numeric_limits<T>::infinity();
      return (positive & (x == kInfinity)) | (negative & (x == -kInfinity));
    }
  }
};

// x - x is NaN for infinities.
struct IsfiniteFn {
  FIRN_HOST_DEVICE bool operator()(auto x) const { return x - x == 0; }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_COMPARE_CLASSIFY_FN_H_
