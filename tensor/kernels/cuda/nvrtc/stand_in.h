#ifndef FIRN_TENSOR_KERNELS_CUDA_NVRTC_STAND_IN_H_
#define FIRN_TENSOR_KERNELS_CUDA_NVRTC_STAND_IN_H_

// NVRTC gets this header in place of every header that is not embedded, since it has the language
// and the functions of mathematics, but no standard library. It has only the names that scalar
// functors use, with the meaning that nvcc gives them.

using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;

#define INT64_MIN (-9223372036854775807L - 1)
#define INT64_MAX 9223372036854775807L

namespace std {

using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;

// Only declared: functions that write text for people have no body here.
class ostream;
class string;
class string_view;

// --- <type_traits> ---

template <class T, T kValue>
struct integral_constant {
  static constexpr T value = kValue;
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;

template <bool kFirst, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool kFirst, class A, class B>
using conditional_t = typename conditional<kFirst, A, B>::type;

template <class T>
inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;
template <class T>
inline constexpr bool is_integral_v =
    is_same_v<T, bool> || is_same_v<T, char> || is_same_v<T, signed char> ||
    is_same_v<T, unsigned char> || is_same_v<T, short> || is_same_v<T, unsigned short> ||
    is_same_v<T, int> || is_same_v<T, unsigned int> || is_same_v<T, long> ||
    is_same_v<T, unsigned long> || is_same_v<T, long long> || is_same_v<T, unsigned long long>;
template <class T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T>
constexpr bool HasNegatives() {  // classes, such as half precision, count as neither
  if constexpr (is_arithmetic_v<T>) {
    return T(-1) < T(0);
  } else {
    return false;
  }
}
template <class T>
inline constexpr bool is_signed_v = HasNegatives<T>();
template <class T>
inline constexpr bool is_unsigned_v = is_arithmetic_v<T> && !is_signed_v<T>;

template <class T>
struct make_unsigned {
  using type = conditional_t<
      sizeof(T) == 8, uint64_t,
      conditional_t<sizeof(T) == 4, uint32_t, conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
};
template <class T>
using make_unsigned_t = typename make_unsigned<T>::type;
template <class T>
using make_signed_t = conditional_t<
    sizeof(T) == 8, int64_t,
    conditional_t<sizeof(T) == 4, int32_t, conditional_t<sizeof(T) == 2, int16_t, int8_t>>>;

// --- <bit>, <limits> ---

template <class To, class From>
constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}

template <class T>
struct numeric_limits {  // of integers
  static constexpr T max() {
    return is_signed_v<T> ? static_cast<T>((make_unsigned_t<T>{1} << (8 * sizeof(T) - 1)) -
                                           make_unsigned_t<T>{1})
                          : static_cast<T>(-1);
  }
  static constexpr T min() { return is_signed_v<T> ? static_cast<T>(-max() - 1) : T(0); }
  static constexpr T lowest() { return min(); }
};
template <>
struct numeric_limits<float> {
  static constexpr float max() { return 0x1.fffffep127f; }
  static constexpr float min() { return 0x1p-126f; }
  static constexpr float lowest() { return -max(); }
  static constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000u); }
  static constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7fc00000u); }
  static constexpr float epsilon() { return 0x1p-23f; }
};
template <>
struct numeric_limits<double> {
  static constexpr double max() { return 0x1.fffffffffffffp1023; }
  static constexpr double min() { return 0x1p-1022; }
  static constexpr double lowest() { return -max(); }
  static constexpr double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000ul); }
  static constexpr double quiet_NaN() { return __builtin_bit_cast(double, 0x7ff8000000000000ul); }
  static constexpr double epsilon() { return 0x1p-52; }
};

// --- <cmath>, <algorithm> ---

// NVRTC overloads these for float and double, as nvcc does.
using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::expm1;
using ::floor;
using ::fmod;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::nearbyint;
using ::pow;
using ::rint;
using ::round;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::trunc;

template <class T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T>
constexpr T&& move(T& x) {
  return static_cast<T&&>(x);
}

// --- <vector> and <optional>, as far as declarations need them ---

template <class T>
class vector;

template <class T>
class optional {
 public:
  constexpr optional() = default;
  constexpr optional(const T& value) : value_(value), there_(true) {}
  constexpr bool has_value() const { return there_; }
  constexpr const T& operator*() const { return value_; }
  constexpr T value_or(T other) const { return there_ ? value_ : other; }

 private:
  T value_{};
  bool there_ = false;
};

}  // namespace std

// Names that operations' headers use besides their attributes.
#include "firn/device/arguments.h"

namespace firn {
class RandomGenerator;
// Empty types for optional arguments.
class Tensor {};
class DimList {};
namespace inner {
class KernelContext;
}
}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_CUDA_NVRTC_STAND_IN_H_
