#ifndef FIRN_TENSOR_KERNELS_MATH_POW_H_
#define FIRN_TENSOR_KERNELS_MATH_POW_H_

// Powers for kernels. Floats: x^y = 2^(y log2 |x|), computed in double, in straight-line code as
// in math.h; off by at most 0.51 units of the last place, with C's special values. Integers: by
// repeated squaring, modulo 2^bits.

#include "tensor/kernels/math_double.h"

namespace firn::math {
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Pow(float x, float y) {
  const float size = Abs(x);
  const double log = internal::Log2InDouble(size);
  const float power = internal::Exp2InDouble(static_cast<double>(y) * log);
  // |x| = 1 with y = +-inf would be 0 * inf.
  const float positive = size == 1.0f ? 1.0f : power;
  const float half = y * 0.5f;
  const bool whole = std::trunc(y) == y;
  const bool odd = whole & (std::trunc(half) != half);
  const float negative = odd ? -positive : positive;
  // A negative number has whole powers only; -0 and -inf have signs but no such limit.
  const float below = whole | (size == 0.0f) | (size == kInf) ? negative : kNan;
  const bool minus = (std::bit_cast<uint32_t>(x) >> 31) != 0;
  const float result = minus ? below : positive;
  const float checked = x != x ? x : (y != y ? y : result);
  return (x == 1.0f) | (y == 0.0f) ? 1.0f : checked;
}
FIRN_HOST_DEVICE inline double Pow(double x, double y) { return std::pow(x, y); }

// Negative powers of integers are 0 but for those of 1 and -1 (0 has none: 0 too).
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
