#ifndef FIRN_TENSOR_KERNELS_MATH_H_
#define FIRN_TENSOR_KERNELS_MATH_H_

// Scalar mathematics for kernels, on every device. The float functions are straight-line code
// (selects, no branches, no calls), so that a plain loop over them vectorises with -O3
// -fno-math-errno -fno-trapping-math at any vector width; Fmod calls the standard library where the
// quotient is huge, and so do the sine and its like for doubles of many turns. Special values are
// those of IEEE and C: Exp(-inf) = 0, Log(0) = -inf, Log(-1) = NaN, and NaN gives NaN. Subnormal
// arguments and results count.
//
// The functions of doubles are the same in math_*_f64.h, off by at most 1.0; but Normal by 6.0,
// Log1pOfFraction by 1.1, and without fused multiply-adds by 1.3 and Erf by 1.2 (math_f64_test.cc).
//
// Greatest errors in units of the last place, over all floats, with or without fused multiply-adds
// (tests/tensor/kernels/math_test.cc holds the functions to them):
//   Exp 1.0   Exp2 1.0   Expm1 1.5   Tanh 1.5   Sigmoid 1.6   Sinh 1.7   Cosh 1.5   Log 0.9
//   Log1p 1.5   Log1pOfFraction 1.2
//   Erf 1.6   Normal 2.2 (density) and 6.2 (integral)
//   math_trig.h: Sin, Cos, Tan 1.6   Sinc 2.5     math_arc.h: Asin 1.8   Acos 1.2   Atan 1.5
//   Atan2 1.5     math_log.h: Log2, Log10 2, Atanh 1.9, others 0.52     math_pow.h: 0.52
//   math_gamma.h: 0.51
//
// The polynomials are minimax approximations found by Remez exchange and rounded to float; the
// reductions are the usual ones (Cody and Waite, Software Manual for the Elementary Functions,
// 1980).

#include "firn/tensor/kernels/math_base.h"
#include "firn/tensor/kernels/math_erf_f64.h"
#include "firn/tensor/kernels/math_exp_f64.h"
#include "firn/tensor/kernels/math_log_f64.h"

namespace firn::math {
namespace internal {

// Adding 1.5 * 2^23 rounds a float below 2^22 to an integer, which then stands in the low bits.
inline constexpr float kShift = 0x1.8p23f;

// 2^n for -126 <= n <= 127.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float PowerOf2(int32_t n) {
  return std::bit_cast<float>(static_cast<uint32_t>(n + 127) << 23);
}

// x = n ln 2 + r with |r| <= ln 2 / 2 for |x| < 110; r is NaN for NaN; n is meaningless for larger
// |x|.
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

// e^r - 1 - r for |r| <= ln 2 / 2, off by 2^-28 of e^r - 1.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Expm1Tail(float r) {
  return r * r *
         Polynomial(r, 0.5f, 0.166666672f, 0.0416663513f, 0.00833327230f, 0.00139412028f,
                    0.000199144997f);
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Expm1OfReduced(float r) { return r + Expm1Tail(r); }

// e^(x + correction) for -104 <= x < 89, NaN for NaN, any number elsewhere.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ExpInRange(float x, float correction = 0.0f) {
  const ExpReduction e = ReduceExp(x);
  // Two factors, so that results beyond the largest and below the smallest normal come out rounded
  // once.
  const int32_t half = e.n >> 1;
  return (1.0f + Expm1OfReduced(e.r + correction)) * PowerOf2(half) * PowerOf2(e.n - half);
}
// Like the above, for every x <= 0.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ExpOfNegative(float x, float correction = 0.0f) {
  const float y = ExpInRange(x, correction);
  return x < -104.0f ? 0.0f : y;
}

// log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)).
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float LogRest(float f) {
  const float p =
      Polynomial(f, 0.333333105f, -0.249999866f, 0.200022265f, -0.166692495f, 0.142186701f,
                 -0.123843774f, 0.118729211f, -0.117896527f, 0.0691531226f);
  return f * f * (f * p - 0.5f);
}

// log(1 + f) + k ln 2 for 1 + f in [sqrt(1/2), sqrt(2)].
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float LogOfReduced(float f, float k) {
  return k * 0.693359375f + (f + (LogRest(f) - k * 2.12194440e-4f));
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

// y; where x is infinite, NaN or not above `pole`, the value of a logarithm with its pole there.
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

// The error function for |x| <= 0.9.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float SmallErf(float x) {
  return x + x * Polynomial(x * x, 0.128379167f, -0.376126353f, 0.112837193f, -0.0268607303f,
                            0.00520437639f, -0.000818120606f, 8.53559713e-05f);
}

// e^(-scale x^2): squaring the upper half of x's digits is exact, the rest is a correction.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ExpMinusSquare(float x, float scale) {
  const float hi = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xfffff000u);
  const float y = ExpInRange(-scale * (hi * hi), -scale * ((x - hi) * (x + hi)));
  return scale * (x * x) > 104.0f ? 0.0f : y;
}

}  // namespace internal

// --- Exponentials -------------------------------------------------------------------------------

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Exp(float x) {
  const float y = internal::ExpOfNegative(x);
  return x > 88.8f ? kInf : y;
}

// e^x for x <= 0 in half of Exp's steps, as a weight that is added to others of at most 1. Off by
// 2.1 - x / 2 units of the last place, without fused multiply-adds by 2.1 - 5 x / 4: ln 2 is
// rounded once, which matters little except for tiny weights. Results below e^-87 are 0.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float ExpOfWeight(float x) {
  constexpr float kBiased = internal::kShift + 127.0f;
  const float shifted = x * 1.44269504f + kBiased;
  const float r = x * 1.44269504f - (shifted - kBiased);
  const float y = Polynomial(r, 1.0f, 0.693147004f, 0.240222424f, 0.0555073358f, 0.00967151299f,
                             0.00132647273f) *
                  std::bit_cast<float>(std::bit_cast<uint32_t>(shifted) << 23);
  return x < -87.0f ? 0.0f : y;
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double ExpOfWeight(double x) { return Exp(x); }

// 2^x = 2^n e^(r ln 2) for x = n + r, which is exact.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Exp2(float x) {
  const float shifted = x + internal::kShift, r = x - (shifted - internal::kShift);
  const int32_t n = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(internal::kShift);
  const int32_t half = n >> 1;
  const float power = 1.0f + internal::Expm1OfReduced(r * 0.693147181f);
  const float y = power * internal::PowerOf2(half) * internal::PowerOf2(n - half);
  const float finite = x < -151.0f ? 0.0f : y;
  return x >= 128.0f ? kInf : finite;
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Expm1(float x) {
  const internal::ExpReduction e = internal::ReduceExp(x);
  // Computes half of everything, because 2^128 is not a float.
  const float s = internal::PowerOf2(e.n - 1);
  float y = 2.0f * (s * internal::Expm1OfReduced(e.r) + (s - 0.5f));
  y = Abs(x) < 0x1p-25f ? x : y;
  y = x < -20.0f ? -1.0f : y;
  return x > 88.8f ? kInf : y;
}

// 1 - 2 / (e^2|x| + 1), and an odd polynomial where that is below 1/2. Exactly +-1 from |x| = 9.1
// on.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Tanh(float x) {
  const float size = Abs(x), z = x * x;
  const float near = size + size * z *
                                Polynomial(z, -0.333333320f, 0.133331135f, -0.0539093878f,
                                           0.0213091213f, -0.00660970344f);
  const internal::ExpReduction e = internal::ReduceExp(2.0f * size);
  const float s = internal::PowerOf2(e.n);
  const float y = 1.0f - 2.0f / ((s + s * internal::Expm1OfReduced(e.r)) + 1.0f);
  const float far = size > 9.1f ? 1.0f : y;
  return WithSign(size < 0.55f ? near : far, x);
}

namespace internal {

// e^x / 2 for x >= 0, which overflows at an x that is larger by 0.69 than for e^x.
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

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Cosh(float x) {
  const float h = internal::HalfExp(Abs(x));
  return h + 0.25f / h;
}

// s = 1 / (1 + e^|x|), or 1 - s where x is positive. Everything is first scaled by 2^-64, so that
// the sum stays in the range and a subnormal result is rounded once.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Sigmoid(float x) {
  constexpr float kScale = 0x1p-64f;
  const float size = Abs(x), in_range = size > 104.0f ? 104.0f : size;
  const internal::ExpReduction e = internal::ReduceExp(in_range);
  const float power = internal::PowerOf2(e.n - 64);
  const float one = power + kScale, lost = kScale - (one - power);
  const float y = 1.0f / (one + (power * internal::Expm1OfReduced(e.r) + lost)) * kScale;
  return x < 0.0f ? y : 1.0f - y;
}

// --- Logarithms ---------------------------------------------------------------------------------

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Log(float x) {
  const bool subnormal = x < std::numeric_limits<float>::min();
  const internal::LogReduction l = internal::ReduceLog(subnormal ? x * 0x1p23f : x);
  const float k = static_cast<float>(l.k - (subnormal ? 23 : 0));
  const float y = internal::LogOfReduced(l.m - 1.0f, k);
  return internal::LogSpecial(x, 0.0f, y);
}

// log(1 + x), corrected for the rounding of 1 + x.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Log1p(float x) {
  const float u = 1.0f + x;
  // The larger of the summands comes first in the exact difference.
  const float lost = u < 2.0f ? x - (u - 1.0f) : 1.0f - (u - x);
  const internal::LogReduction l = internal::ReduceLog(u);
  const float f = (l.m - 1.0f) + lost * internal::PowerOf2(l.k > 126 ? -126 : -l.k);
  const float y = internal::LogOfReduced(f, static_cast<float>(l.k));
  return internal::LogSpecial(x, -1.0f, Abs(x) < 0x1p-25f ? x : y);
}

// log(1 + t) for t in [0, 1], such as e^-|x|; NaN for NaN. With z = t / (2 + t) it is 2 artanh(z),
// and 2 z is t - z t: the roundings of z and 2 + t count by a third at most.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Log1pOfFraction(float t) {
  const float z = t / (2.0f + t), w = z * z;
  return t - z * (t - w * Polynomial(w, 0.666666389f, 0.400075614f, 0.282366186f, 0.268515021f));
}

// --- The error function and the normal distribution ---------------------------------------------

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Erf(float x) {
  const float z = Abs(x);
  const float tail = 1.0f - internal::ScaledErfc(z) * internal::ExpMinusSquare(z, 1.0f);
  return z < 0.9f ? internal::SmallErf(x) : WithSign(tail, x);
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE NormalValue<float> Normal(float x) {
  const float z = Abs(x);
  const float e = internal::ExpMinusSquare(z, 0.5f);
  const float upper = 0.5f * internal::ScaledErfc(z * 0.707106781f) * e;
  const float far = x < 0.0f ? upper : 1.0f - upper;
  const float near = 0.5f + x * Polynomial(x * x, 0.398942202f, -0.0664887577f, 0.00996425655f,
                                           -0.00116546010f, 9.25138738e-05f);
  return {0.398942280f * e, z < 1.0f ? near : far};
}
namespace internal {

// Whether the standard library's fmod must take a quotient, as it takes those by 0 and infinity,
// and NaN.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool HasLongQuotient(double x, double y) {
  const double b = Abs(y);
  return !(Abs(x) / b < 0x1p52) | !(b < 0x1p960);
}

// The remainder of other quotients. The quotient times y, as a sum of two doubles, is exact, and so
// is its difference to x. The difference's sign shows whether the division rounded the quotient up
// to a whole number.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double FmodOfShortQuotient(double x, double y) {
  const double a = Abs(x), b = Abs(y), n = std::trunc(a / b), back = inner::RoundedProduct(n, b);
  const double rest = (a - back) - inner::ProductRest(n, b, back);
  return WithSign(Abs(rest < 0.0 ? rest + b : rest), x);
}
// For floats, too, the double nearest to their quotient is enough.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool HasLongQuotient(float x, float y) {
  return HasLongQuotient(double{x}, double{y});
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float FmodOfShortQuotient(float x, float y) {
  return static_cast<float>(FmodOfShortQuotient(double{x}, double{y}));
}

// True for arguments with a long quotient, which the standard library divides; not for zeros,
// infinities and NaN, of which a tensor may be full.
template <class T>
requires std::is_floating_point_v<T> FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool HasRareQuotient(T x,
                                                                                              T y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double a = Abs(static_cast<double>(x)), b = Abs(static_cast<double>(y));
  const double by_number = b > 0 ? a / b : 0;
  const double quotient = a < kInfinity ? by_number : 0;
  const double divisor = b < kInfinity ? b : 0;
  // A single comparison for "from 2^52 or 2^960 on, or near both", which g++ 12 vectorises.
  return quotient + divisor * 0x1p-908 >= 0x1p52;
}
// The remainder of all other arguments.
template <class T>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T FmodOfUsualQuotient(T x, T y) {
  const T inf = std::numeric_limits<T>::infinity();
  const T r = FmodOfShortQuotient(x, y);
  return (Abs(y) == inf) & (Abs(x) < inf) ? x : r;
}

}  // namespace internal

// The remainder of x / y rounded towards 0, with x's sign; exact, as C's fmod.
template <class T>
requires std::is_floating_point_v<T> FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE T Fmod(T x, T y) {
  return internal::HasLongQuotient(x, y) ? std::fmod(x, y) : internal::FmodOfShortQuotient(x, y);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_H_
