#ifndef FIRN_TENSOR_KERNELS_MATH_LOG_H_
#define FIRN_TENSOR_KERNELS_MATH_LOG_H_

// Logarithms to the bases 2 and 10, and the inverse hyperbolic functions, which are logarithms.
// Asinh and Acosh of floats are computed in double (math_double.h), where neither squares overflow
// nor digits get lost, and are off by at most 0.52 units of the last place, Atanh by at most 1.9;
// the others by at most 1.1 (2 without fused multiply-adds), and are exact for powers of the base.

#include "firn/tensor/kernels/math.h"
#include "firn/tensor/kernels/math_arc_f64.h"
#include "firn/tensor/kernels/math_double.h"
#include "firn/tensor/kernels/math_pow_f64.h"

namespace firn::math {
namespace internal {

inline constexpr double kLn2 = 0.693147180559945309;
// The limit below which a series of two terms replaces a logarithm near 1.
inline constexpr float kSmallArea = 0x1p-10f;

// A number as a float and the remainder.
struct SplitFloat {
  float high, low;
};

// The logarithm of x to a base: `two` is the logarithm of 2, whose higher part has so few digits
// that products with exponents are exact, and `e` that of e.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float LogToBase(float x, SplitFloat two, SplitFloat e) {
  const bool subnormal = x < std::numeric_limits<float>::min();
  const LogReduction l = ReduceLog(subnormal ? x * 0x1p23f : x);
  const float k = static_cast<float>(l.k - (subnormal ? 23 : 0));
  const float f = l.m - 1.0f, rest = LogRest(f);
  const float low = (f + rest) * e.low + k * two.low;
  return LogSpecial(x, 0.0f, k * two.high + (f * e.high + (rest * e.high + low)));
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Log2(float x) {
  return internal::LogToBase(x, {1.0f, 0.0f}, {1.44269502f, 1.92596303e-08f});
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Log10(float x) {
  return internal::LogToBase(x, {0x1.344p-2f, 4.60503907e-06f}, {0.434294492f, -1.01030500e-08f});
}

// log(x + sqrt(x^2 + 1)).
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Asinh(float x) {
  const float size = Abs(x);
  const auto wide = static_cast<double>(size);
  const double y = internal::kLn2 * internal::Log2OfNormal(wide + std::sqrt(wide * wide + 1.0));
  const float far = size < kInf ? static_cast<float>(y) : size;
  const float near = size - size * (size * size) * 0.166666667f;
  return WithSign(size < internal::kSmallArea ? near : far, x);
}

// log(x + sqrt(x^2 - 1)); NaN below 1.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Acosh(float x) {
  const auto wide = static_cast<double>(x);
  const double root = std::sqrt((wide - 1.0) * (wide + 1.0));
  const auto y = static_cast<float>(internal::kLn2 * internal::Log2OfNormal(wide + root));
  const float finite = x < kInf ? y : x;
  return x >= 1.0f ? finite : kNan;
}

// log((1 + x) / (1 - x)) / 2; infinite at 1 and -1, NaN beyond. With 2^k a power of two near the
// quotient it is k log(2) / 2 + atanh z with z = ((1 + x) - d) / ((1 + x) + d) for d = 2^k (1 - x),
// |z| < 0.226. The difference takes the roundings of the sums into account. The bits of both, read
// as logarithms, tell how many powers of two lie between them; k begins at 0.6, where less of the
// sum cancels.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Atanh(float x) {
  const float size = Abs(x), up = 1.0f + size, down = 1.0f - size;
  // Unsigned, because beyond 1 the difference does not fit an int32_t.
  const uint32_t apart = std::bit_cast<uint32_t>(up) - std::bit_cast<uint32_t>(down);
  constexpr uint32_t kRounding = 3355443;  // 0.4 of 2^23
  const int32_t k = static_cast<int32_t>(apart + kRounding) >> 23;
  const float power = internal::PowerOf2(k), octaves = static_cast<float>(k);
  const float d = down * power;
  const float lost = (size - (up - 1.0f)) - ((1.0f - down) - size) * power;
  const float z = ((up - d) + lost) / (up + d), w = z * z;
  const float rest = z * w * Polynomial(w, 0.333336294f, 0.199650601f, 0.154421836f);
  const float inside = octaves * 0.3466796875f + (z + (rest - octaves * 1.06097220e-4f));
  const float outside = size == 1.0f ? kInf : kNan;
  return WithSign(size < 1.0f ? inside : outside, x);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_LOG_H_
