#ifndef FIRN_TENSOR_KERNELS_MATH_LOG_H_
#define FIRN_TENSOR_KERNELS_MATH_LOG_H_

// Logarithms to the bases 2 and 10, and the inverse hyperbolic functions, which are logarithms.
// Floats are computed in double (math_double.h), where neither squares overflow nor digits get
// lost, and are off by at most 0.52 units of the last place.

#include "tensor/kernels/math_arc_f64.h"
#include "tensor/kernels/math_double.h"
#include "tensor/kernels/math_pow_f64.h"

namespace firn::math {
namespace internal {

inline constexpr double kLn2 = 0.693147180559945309;
// From where on a series of two terms takes the place of a logarithm near 1.
inline constexpr float kSmallArea = 0x1p-10f;

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Log2(float x) {
  return internal::LogSpecial(x, 0.0f, static_cast<float>(internal::Log2InDouble(x)));
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Log10(float x) {
  const double y = internal::Log2InDouble(x) * 0.301029995663981195;
  return internal::LogSpecial(x, 0.0f, static_cast<float>(y));
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

// log((1 + x) / (1 - x)) / 2; infinite at 1 and -1, NaN beyond.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Atanh(float x) {
  const float size = Abs(x);
  const auto wide = static_cast<double>(size);
  const double y = 0.5 * internal::kLn2 * internal::Log2OfNormal((1.0 + wide) / (1.0 - wide));
  const float near = size + size * (size * size) * 0.333333333f;
  const float inside = size < internal::kSmallArea ? near : static_cast<float>(y);
  const float outside = size == 1.0f ? kInf : kNan;
  return WithSign(size < 1.0f ? inside : outside, x);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_LOG_H_
