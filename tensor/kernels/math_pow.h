#ifndef FIRN_TENSOR_KERNELS_MATH_POW_H_
#define FIRN_TENSOR_KERNELS_MATH_POW_H_

// Powers for kernels. Floats: x^y = 2^(y log2 |x|), computed in double, in straight-line code as
// in math.h; off by at most 0.51 units of the last place, with C's special values. Integers: by
// repeated squaring, modulo 2^bits.

#include "firn/tensor/kernels/math_double.h"
#include "firn/tensor/kernels/math_pow_f64.h"

namespace firn::math {
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Pow(float x, float y) {
  const float size = Abs(x);
  const double exponent = static_cast<double>(y) * internal::Log2InDouble(size);
  const float number = internal::Exp2InDouble(exponent);
  const float power = exponent == exponent ? number : kNan;
  // |x| = 1 with y = +-inf would be 0 * inf.
  const float positive = size == 1.0f ? 1.0f : power;
  // A negative number has only whole powers; for -0 and -inf others exist, too. Conditions on y
  // alone are numbers here: g++ 12 does not vectorise a choice that does not change within the
  // loop.
  const float half = y * 0.5f;
  const bool whole = std::trunc(y) == y;
  const bool odd = whole & (std::trunc(half) != half);
  const float signed_power = positive * Select(odd, -1.0f, 1.0f);
  const float partial = signed_power + Select(whole, -0.0f, kNan);
  const float below = (size == 0.0f) | (size == kInf) ? signed_power : partial;
  const bool minus = (std::bit_cast<uint32_t>(x) >> 31) != 0;
  const float result = minus ? below : positive;
  return Select(y == 0.0f, 1.0f, x == 1.0f ? 1.0f : result);
}

// Negative powers of integers are 0, except those of 1 and -1 (those of 0, which do not exist, are
// 0 too).
template <class T>
requires std::is_integral_v<T> FIRN_HOST_DEVICE T Pow(T x, T y) {
  using U = std::make_unsigned_t<T>;
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) return x == 1 ? T{1} : x == -1 ? (y & 1 ? T{-1} : T{1}) : T{0};
  }
  uint64_t base = static_cast<U>(x);
  uint64_t result = 1;
  for (U n = static_cast<U>(y); n != 0; n = static_cast<U>(n >> 1)) {
    if ((n & 1u) != 0) result *= base;
    base *= base;
  }
  return static_cast<T>(result);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_POW_H_
