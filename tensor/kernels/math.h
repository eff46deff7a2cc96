#ifndef FIRN_TENSOR_KERNELS_MATH_H_
#define FIRN_TENSOR_KERNELS_MATH_H_

// Scalar mathematics for kernels, on every device. The float functions are straight-line code
// (selects, no branches, no calls), so that a plain loop over them vectorises with -O3
// -fno-math-errno -fno-trapping-math at any vector width; the double versions call the standard
// library, and so does Fmod where the quotient is huge. Special values are those of IEEE and C:
// Exp(-inf) = 0, Log(0) = -inf, Log(-1) = NaN, and NaN gives NaN. Subnormal arguments and results
// count.
//
// Greatest errors in units of the last place, over all floats, with or without fused multiply-adds
// (tests/tensor/kernels/math_test.cc holds the functions to them):
//   Exp 1.0   Expm1 1.5   Tanh 2.4   Sigmoid 2.4   Sinh 1.7   Cosh 1.5   Log 0.9   Log1p 1.5
//   Erf 2.2   Erfc 5.5   Normal 2.2 (density) and 6.2 (integral)
//   math_trig.h: Sin, Cos 1.6   Tan 0.53   Sinc 2.5     math_arc.h: Asin 1.8   Acos 1.2   Atan 1.5
//   Atan2 1.5     math_log.h, math_pow.h: 0.52     math_gamma.h: 0.51
//
// The polynomials are minimax approximations found by Remez exchange and rounded to float; the
// reductions are the usual ones (Cody and Waite, Software Manual for the Elementary Functions,
// 1980).

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/inner.h"
#include "device/macros.h"

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

namespace internal {

// Adding 1.5 * 2^23 rounds a float below 2^22 to an integer, which then stands in the low bits.
inline constexpr float kShift = 0x1.8p23f;

// 2^n for -126 <= n <= 127.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float PowerOf2(int32_t n) {
  return std::bit_cast<float>(static_cast<uint32_t>(n + 127) << 23);
}

// x = n ln 2 + r with |r| <= ln 2 / 2 for |x| < 110; r is NaN for NaN and n nothing useful beyond.
struct ExpReduction {
  float r;
  int32_t n;
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE ExpReduction ReduceExp(float x) {
  const float shifted = x * 1.44269504f + kShift;
  const float n = shifted - kShift;
  // ln 2 in two parts; n times the first is exact.
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  return {r, std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kShift)};
}

// e^r - 1 for |r| <= ln 2 / 2, relative error 2^-28.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Expm1OfReduced(float r) {
  return r + r * r *
                 Polynomial(r, 0.5f, 0.166666672f, 0.0416663513f, 0.00833327230f, 0.00139412028f,
                            0.000199144997f);
}

// e^(x + correction) for -104 <= x < 89, NaN for NaN, any number elsewhere.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ExpInRange(float x, float correction = 0.0f) {
  const ExpReduction e = ReduceExp(x);
  // Two factors, so that results beyond the largest and below the smallest normal come out rounded
  // once.
  const int32_t half = e.n >> 1;
  return (1.0f + Expm1OfReduced(e.r + correction)) * PowerOf2(half) * PowerOf2(e.n - half);
}
// As above for every x <= 0.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ExpOfNegative(float x, float correction = 0.0f) {
  const float y = ExpInRange(x, correction);
  return x < -104.0f ? 0.0f : y;
}

// log(1 + f) + k ln 2 for 1 + f in [sqrt(1/2), sqrt(2)].
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float LogOfReduced(float f, float k) {
  const float p =
      Polynomial(f, 0.333333105f, -0.249999866f, 0.200022265f, -0.166692495f, 0.142186701f,
                 -0.123843774f, 0.118729211f, -0.117896527f, 0.0691531226f);
  const float f2 = f * f;
  return k * 0.693359375f + (f + (f2 * (f * p - 0.5f) - k * 2.12194440e-4f));
}

// x = m * 2^k with m in [sqrt(1/2), sqrt(2)). Requires: x is positive and normal.
struct LogReduction {
  float m;
  int32_t k;
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE LogReduction ReduceLog(float x) {
  constexpr int32_t kSqrtHalf = 0x3f3504f3;
  const int32_t bits = std::bit_cast<int32_t>(x) - kSqrtHalf;
  return {std::bit_cast<float>((bits & 0x7fffff) + kSqrtHalf), bits >> 23};
}

// y, or the value of a logarithm with its pole at `pole` where x is no number above it.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float LogSpecial(float x, float pole, float y) {
  y = x < kInf ? y : x;
  y = x < pole ? kNan : y;
  return x == pole ? -kInf : y;
}

// e^(z^2) erfc(z) for z >= 0, relative error 2^-26.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ScaledErfc(float z) {
  const float u = 1.0f / (1.0f + 0.4f * z);
  return u * Polynomial(1.0f - 2.0f * u, 0.421612740f, -0.321860701f, 0.181565657f, -0.0685018525f,
                        0.0113443239f, 0.00336851808f, -0.00192178250f, -0.000210239392f,
                        0.000251860591f, 5.70420270e-05f);
}

// The error function for |x| <= 0.7.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float SmallErf(float x) {
  return x + x * Polynomial(x * x, 0.128379166f, -0.376126286f, 0.112835471f, -0.0268448447f,
                            0.00513905774f, -0.000695678742f);
}

// e^(-scale x^2): squaring the upper half of x's digits is exact, the rest is a correction.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ExpMinusSquare(float x, float scale) {
  const float hi = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xfffff000u);
  const float y = ExpInRange(-scale * (hi * hi), -scale * ((x - hi) * (x + hi)));
  return scale * (x * x) > 104.0f ? 0.0f : y;
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Abs(float x) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7fffffffu);
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Abs(double x) { return std::abs(x); }

// `size` with the sign of `sign`. Requires: size >= 0 or NaN.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float WithSign(float size, float sign) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(size) |
                              (std::bit_cast<uint32_t>(sign) & 0x80000000u));
}

template <class T>
requires std::is_integral_v<T> FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T Abs(T x) {
  return x < T{0} ? static_cast<T>(-x) : x;
}

// --- Exponentials -------------------------------------------------------------------------------

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Exp(float x) {
  const float y = internal::ExpOfNegative(x);
  return x > 88.8f ? kInf : y;
}
FIRN_HOST_DEVICE inline double Exp(double x) { return std::exp(x); }

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Expm1(float x) {
  const internal::ExpReduction e = internal::ReduceExp(x);
  // Half of everything, for 2^128 is not a float.
  const float s = internal::PowerOf2(e.n - 1);
  float y = 2.0f * (s * internal::Expm1OfReduced(e.r) + (s - 0.5f));
  y = Abs(x) < 0x1p-25f ? x : y;
  y = x < -20.0f ? -1.0f : y;
  return x > 88.8f ? kInf : y;
}
FIRN_HOST_DEVICE inline double Expm1(double x) { return std::expm1(x); }

// (e^2x - 1) / (e^2x + 1), from e^2|x| - 1 to keep the digits near 0. Exactly +-1 from |x| = 9.1
// on.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Tanh(float x) {
  const float size = Abs(x);
  const internal::ExpReduction e = internal::ReduceExp(2.0f * size);
  const float s = internal::PowerOf2(e.n);
  const float t = s * internal::Expm1OfReduced(e.r) + (s - 1.0f);
  const float y = t / (t + 2.0f);
  return WithSign(size > 9.1f ? 1.0f : y, x);
}
FIRN_HOST_DEVICE inline double Tanh(double x) { return std::tanh(x); }

namespace internal {

// e^x / 2 for x >= 0, which leaves the floats 0.69 later than e^x.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float HalfExp(float x) {
  const ExpReduction e = ReduceExp(x);
  const int32_t half = e.n >> 1;
  const float y = (1.0f + Expm1OfReduced(e.r)) * PowerOf2(half) * PowerOf2(e.n - half - 1);
  return x > 90.0f ? kInf : y;
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Sinh(float x) {
  const float size = Abs(x), z = x * x;
  const float near =
      x + x * z * Polynomial(z, 0.166666672f, 0.00833331048f, 0.000198428941f, 2.78223001e-06f);
  const float h = internal::HalfExp(size);
  return size < 1.0f ? near : WithSign(h - 0.25f / h, x);
}
FIRN_HOST_DEVICE inline double Sinh(double x) { return std::sinh(x); }

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Cosh(float x) {
  const float h = internal::HalfExp(Abs(x));
  return h + 0.25f / h;
}
FIRN_HOST_DEVICE inline double Cosh(double x) { return std::cosh(x); }

// 1 / (1 + e^-x).
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T Sigmoid(T x) {
  const T e = Exp(-Abs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

// --- Logarithms ---------------------------------------------------------------------------------

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Log(float x) {
  const bool subnormal = x < std::numeric_limits<float>::min();
  const internal::LogReduction l = internal::ReduceLog(subnormal ? x * 0x1p23f : x);
  const float k = static_cast<float>(l.k - (subnormal ? 23 : 0));
  const float y = internal::LogOfReduced(l.m - 1.0f, k);
  return internal::LogSpecial(x, 0.0f, y);
}
FIRN_HOST_DEVICE inline double Log(double x) { return std::log(x); }

// log(1 + x), keeping what 1 + x rounds off.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Log1p(float x) {
  const float u = 1.0f + x;
  // The larger of the summands comes first in the exact difference.
  const float lost = u < 2.0f ? x - (u - 1.0f) : 1.0f - (u - x);
  const internal::LogReduction l = internal::ReduceLog(u);
  const float f = (l.m - 1.0f) + lost * internal::PowerOf2(l.k > 126 ? -126 : -l.k);
  const float y = internal::LogOfReduced(f, static_cast<float>(l.k));
  return internal::LogSpecial(x, -1.0f, Abs(x) < 0x1p-25f ? x : y);
}
FIRN_HOST_DEVICE inline double Log1p(double x) { return std::log1p(x); }

// --- The error function and the normal distribution ---------------------------------------------

// 1 - Erf(x): 2 / sqrt(pi) times the integral of e^(-t^2) from x to infinity.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Erfc(float x) {
  const float z = Abs(x);
  const float tail = internal::ScaledErfc(z) * internal::ExpMinusSquare(z, 1.0f);
  const float far = x < 0.0f ? 2.0f - tail : tail;
  return z < 0.5f ? 1.0f - internal::SmallErf(x) : far;
}
FIRN_HOST_DEVICE inline double Erfc(double x) { return std::erfc(x); }

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Erf(float x) {
  const float z = Abs(x);
  const float tail = 1.0f - internal::ScaledErfc(z) * internal::ExpMinusSquare(z, 1.0f);
  return z < 0.7f ? internal::SmallErf(x) : WithSign(tail, x);
}
FIRN_HOST_DEVICE inline double Erf(double x) { return std::erf(x); }

// The standard normal density and distribution function, which share an exponential.
template <class T>
struct NormalValue {
  T density;   // e^(-x^2 / 2) / sqrt(2 pi)
  T integral;  // of the density from -infinity to x; in (0, 1), accurate in both tails
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE NormalValue<float> Normal(float x) {
  const float z = Abs(x);
  const float e = internal::ExpMinusSquare(z, 0.5f);
  const float upper = 0.5f * internal::ScaledErfc(z * 0.707106781f) * e;
  const float far = x < 0.0f ? upper : 1.0f - upper;
  const float near = 0.5f + x * Polynomial(x * x, 0.398942202f, -0.0664887577f, 0.00996425655f,
                                           -0.00116546010f, 9.25138738e-05f);
  return {0.398942280f * e, z < 1.0f ? near : far};
}
FIRN_HOST_DEVICE inline NormalValue<double> Normal(double x) {
  return {0.39894228040143268 * std::exp(-0.5 * x * x), 0.5 * std::erfc(-0.70710678118654752 * x)};
}

// c ? a : b without a branch: where a loop makes no vectors, the compiler would jump, and signs at
// random mispredict every other jump.
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

// The remainder of x / y rounded towards 0, with x's sign; exact, as C's fmod. In double a quotient
// below 2^29 times a float is exact, and one that the division rounded up to a whole number shows
// by the sign of what remains.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Fmod(float x, float y) {
  const double a = Abs(double{x}), b = Abs(double{y});
  const double quotient = a / b;
  if (!(quotient < 0x1p29) || b == std::numeric_limits<double>::infinity()) return std::fmod(x, y);
  const double rest = a - b * static_cast<double>(static_cast<int32_t>(quotient));
  return std::copysign(static_cast<float>(rest < 0 ? rest + b : rest), x);
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Fmod(double x, double y) { return std::fmod(x, y); }

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_H_
