#ifndef FIRN_TENSOR_KERNELS_CONVERT_H_
#define FIRN_TENSOR_KERNELS_CONVERT_H_

#include <limits>
#include <type_traits>

#include "firn/device/inner.h"
#include "firn/tensor/dtype.h"

namespace firn {

// A number as another element type, defined for every value: a float outside an integer's range
// saturates and NaN gives 0 (C++ leaves both undefined); anything but zero is true.
template <class To, class From>
FIRN_HOST_DEVICE To ConvertTo(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (std::is_same_v<To, bool>) {
    return !(v == static_cast<From>(0));
  } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    using Wide = std::conditional_t<std::is_same_v<From, double>, double, float>;
    const Wide x = static_cast<Wide>(v);
    constexpr Wide kLow = static_cast<Wide>(std::numeric_limits<To>::min());
    constexpr Wide kHigh = static_cast<Wide>(std::numeric_limits<To>::max());
    if (!(x > kLow)) return x != x ? To{0} : std::numeric_limits<To>::min();
    if (!(x < kHigh)) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(v));
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_CONVERT_H_
