#ifndef FIRN_TENSOR_KERNELS_MATH_BASE_H_
#define FIRN_TENSOR_KERNELS_MATH_BASE_H_

// Building blocks of the functions of math*.h.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "firn/device/inner.h"
#include "firn/device/macros.h"

namespace firn::math {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// c0 + x * (c1 + x * (c2 + ...)).
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE constexpr T Polynomial(T, T c0) {
  return c0;
}
template <class T, class... Rest>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE constexpr T Polynomial(T x, T c0, Rest... rest) {
  return c0 + x * Polynomial(x, rest...);
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Abs(float x) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7fffffffu);
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Abs(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & 0x7fffffffffffffffu);
}
template <class T>
requires std::is_integral_v<T> FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T Abs(T x) {
  return x < T{0} ? static_cast<T>(-x) : x;
}

// `size` with the sign of `sign`. Requires: size >= 0 or NaN.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float WithSign(float size, float sign) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(size) |
                              (std::bit_cast<uint32_t>(sign) & 0x80000000u));
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double WithSign(double size, double sign) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(size) |
                               (std::bit_cast<uint64_t>(sign) & 0x8000000000000000u));
}

// c ? a : b without a branch: where it does not vectorise a loop, the compiler would jump, and with
// random signs every other jump is mispredicted.
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T Select(bool c, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;
    const Bits mask = Bits{0} - static_cast<Bits>(c);
    return std::bit_cast<T>((std::bit_cast<Bits>(a) & mask) | (std::bit_cast<Bits>(b) & ~mask));
  } else {
    return c ? a : b;
  }
}

// The smaller of `size`, which may be NaN, and `most`. g++ 12 makes two paths of
// `size > most ? most : size` if `most` is a constant: it computes all that it can of the second
// one in advance, and blends up to a dozen intermediate results.
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T AtMost(T size, T most) {
  return Select(size > most, most, size);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_BASE_H_
