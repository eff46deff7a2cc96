#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_RATIO_FN_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_RATIO_FN_H_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/math_base.h"

namespace firn {

// y / z, and 0 where z is 0: equal points, which are frequent, have a distance of 0.
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T RatioOf(T y, T z) {
  return z == T(0) ? T(0) : y / z;
}

// Whether the ratio has all its digits, so that x can be multiplied by it; a ratio with a 0 on one
// side has. It uses one comparison, of bits, for "normal and finite", because g++ 12 does not
// vectorise several.
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool IsNearRatio(T y, T z, T ratio) {
  using Bits = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;
  constexpr Bits kLeast = std::bit_cast<Bits>(std::numeric_limits<T>::min());
  constexpr Bits kInfinite = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  const T divided = y == T(0) ? T(1) : ratio, known = z == T(0) ? T(1) : divided;
  return std::bit_cast<Bits>(math::Abs(known)) - kLeast < kInfinite - kLeast;
}

struct MulRatioFn {
  template <class T>
  FIRN_HOST_DEVICE T Usual(T x, T y, T z) const {
    return x * RatioOf(y, z);
  }
  template <class T>
  FIRN_HOST_DEVICE bool IsRare(T, T y, T z) const {
    return !IsNearRatio(y, z, RatioOf(y, z));
  }
  template <class T>
  FIRN_HOST_DEVICE T operator()(T x, T y, T z) const {
    const T ratio = RatioOf(y, z);
    return IsNearRatio(y, z, ratio) ? x * ratio : x / z * y;
  }
};

// The ratio, and NaN where it is far.
struct NearRatioFn {
  template <class T>
  FIRN_HOST_DEVICE T operator()(T y, T z) const {
    const T ratio = RatioOf(y, z);
    return IsNearRatio(y, z, ratio) ? ratio : std::numeric_limits<T>::quiet_NaN();
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_RATIO_FN_H_
