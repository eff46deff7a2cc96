#ifndef FIRN_TENSOR_KERNELS_MATH_POW_H_
#define FIRN_TENSOR_KERNELS_MATH_POW_H_

// Powers for kernels. Floats: x^y = 2^(y log2 |x|), computed in double with both functions to about
// 2^-34, in straight-line code as in math.h; off by at most 0.51 units of the last place, with C's
// special values. Integers: by repeated squaring, modulo 2^bits.

#include "tensor/kernels/math.h"

namespace firn::math {
namespace internal {

// log2(x) for positive x; -inf for 0, inf for inf. Floats are normal as doubles, also subnormal
// ones.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Log2InDouble(float x) {
  constexpr int64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  constexpr int64_t kShift52 = 0x4338000000000000;  // the bits of 1.5 * 2^52
  const int64_t bits = std::bit_cast<int64_t>(static_cast<double>(x)) - kSqrtHalf;
  const double m = std::bit_cast<double>((bits & 0xfffffffffffff) + kSqrtHalf);
  // Biased so that the shift is one of an unsigned number, which more machines have.
  const auto k = static_cast<int64_t>(static_cast<uint64_t>(bits + (int64_t{1024} << 52)) >> 52);
  const double exponent = std::bit_cast<double>(k + kShift52) - (0x1.8p52 + 1024);
  const double s = (m - 1.0) / (m + 1.0);
  const double y =
      exponent + s * Polynomial(s * s, 2.8853900817778491, 0.96179669411521962, 0.57707794177107719,
                                0.41220931681787343, 0.31990288600002653, 0.28294255237971527);
  const double finite = x == 0.0f ? -std::numeric_limits<double>::infinity() : y;
  return x < kInf ? finite : static_cast<double>(x);
}

// 2^x.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Exp2InDouble(double x) {
  const double shifted = x + 0x1.8p52;
  const double r = x - (shifted - 0x1.8p52);
  const double p = Polynomial(r, 0.99999999996161215, 0.69314718072860104, 0.24022651198808506,
                              0.055504103531116546, 0.0096180271673298717, 0.001333392266693399,
                              0.00015469318718002917, 1.5201939479003599e-05);
  // Adding n to the exponent of p, which keeps clear of the ends for |x| < 1000.
  const float y = static_cast<float>(
      std::bit_cast<double>(std::bit_cast<uint64_t>(p) + (std::bit_cast<uint64_t>(shifted) << 52)));
  const float low = x < -200.0 ? 0.0f : y;
  return x > 200.0 ? kInf : low;
}

}  // namespace internal

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
