#ifndef FIRN_TENSOR_KERNELS_CPU_VEC_MATH_H_
#define FIRN_TENSOR_KERNELS_CPU_VEC_MATH_H_

// Functions of kernels/math*.h whose values for a register of numbers come from tables, in less
// time or with smaller errors where kFastLookUp. Special values are the same, except for the sign
// of NaN. Greatest errors in units of the last place, held by vec_math_test.cc:
//   gelu 1.96, f64 1.0   its gradient 2.93, of the larger of its two terms   erf 1.5
//
// Each is an object: a loop makes a copy of its own first. For floats, the object holds its tables,
// which the compiler then keeps in registers; tables of doubles, 2.4 KB, are read from memory.

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"
#include "firn/device/simd_lookup.h"
#include "firn/tensor/kernels/cpu/pieces.h"

namespace firn::cpu {
namespace internal {

template <class T>
using IntOf = inner::internal::IntOf<T>;

template <class T>
FIRN_ALWAYS_INLINE Vec<T> Size(Vec<T> x) {
  constexpr IntOf<T> kAllButSign = std::numeric_limits<IntOf<T>>::max();
  return reinterpret_cast<Vec<T>>(reinterpret_cast<Vec<IntOf<T>>>(x) & kAllButSign);
}
// `y`, which is not positive where `sign` is negative, with its sign.
template <class T>
FIRN_ALWAYS_INLINE Vec<T> WithSign(Vec<T> y, Vec<T> sign) {
  constexpr IntOf<T> kSign = std::numeric_limits<IntOf<T>>::min();
  return reinterpret_cast<Vec<T>>(reinterpret_cast<Vec<IntOf<T>>>(y) |
                                  (reinterpret_cast<Vec<IntOf<T>>>(sign) & kSign));
}
template <class T>
FIRN_ALWAYS_INLINE Vec<T> AtMost(Vec<T> z, T most) {
  return z > most ? Vec<T>{} + most : z;
}

// e^(-z^2 / 2) = (1 + rest) power 2^-64 for 0 <= z <= 14.6; 2^-64, so that no power is subnormal.
struct BellCurve {
  Vec<float> rest, power;
};
FIRN_ALWAYS_INLINE BellCurve BellCurveAt(Vec<float> z) {
  // Adding it rounds to an integer, which then stands in the low bits: an exponent with its bias.
  constexpr float kShift = 0x1.8p23f + 127.0f + 64.0f;
  const Vec<float> square = z * z, lost = inner::internal::ProductRest(z, z, square);
  const Vec<float> shifted = square * -0.721347520f + kShift, n = shifted - kShift;
  // z^2 = -2 n ln 2 + r; n times the first part of 2 ln 2 is exact.
  const Vec<float> r = (square + n * 1.38671875f) + (lost - n * 4.24388880e-4f);
  // The minimax polynomial of e^(-r / 2) - 1.
  const Vec<float> rest =
      r * (-0.5f + r * (0.1249999835f +
                        r * (-0.02083315014f + r * (0.002604274609f + r * (-0.0002615243831f +
                                                                           r * 2.158515002e-5f)))));
  const auto bits = reinterpret_cast<Vec<uint32_t>>(shifted) << 23;
  return {rest, reinterpret_cast<Vec<float>>(bits)};
}

// Beyond it x e^(-x^2 / 2) is negligible.
template <class T>
inline constexpr T kLastOfBell = std::same_as<T, float> ? T(14.6) : T(39);

// f e^(-z^2 / 2) for 0 <= z <= 39, rounded once.
FIRN_ALWAYS_INLINE Vec<double> TimesBellCurve(Pieces<double>::Sum f, Vec<double> z) {
  constexpr double kShift = 0x1.8p52 + 1023.0 + 512.0;
  const Vec<double> square = z * z, lost = inner::internal::ProductRest(z, z, square);
  const Vec<double> shifted = square * -0.72134752044448170368 + kShift, n = shifted - kShift;
  // z^2 = -2 n ln 2 + r + r_rest; n times the first part of 2 ln 2 is exact.
  const Vec<double> high = square + n * (2 * 6.93147180369123816490e-01);
  const Vec<double> low = lost + n * (2 * 1.90821492927058770002e-10);
  const Vec<double> r = high + low, r_rest = (high - r) + low, q = r * -0.5;
  // Taylor's series of e^q - 1 - q, up to 0.35.
  constexpr int kTerms = 12;
  constexpr double kInverse[kTerms] = {
      1.0 / 2,     1.0 / 6,      1.0 / 24,      1.0 / 120,      1.0 / 720,       1.0 / 5040,
      1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  Vec<double> series = Vec<double>{} + kInverse[kTerms - 1];
#pragma GCC unroll 16
  for (int i = kTerms - 2; i >= 0; --i) series = kInverse[i] + q * series;
  // f (1 + q + q^2 series - r_rest / 2), the roundings of the first terms carried along.
  const Vec<double> p = f.high * q, sum = f.high + p;
  const Vec<double> rest = ((f.high - sum) + p) +
                           (inner::internal::ProductRest(f.high, q, p) + (f.low + f.low * q)) +
                           f.high * (r_rest * -0.5);
  const auto power = reinterpret_cast<Vec<double>>(reinterpret_cast<Vec<uint64_t>>(shifted) << 52);
  return (sum + (f.high * (q * q * series) + rest)) * power * 0x1p-512;
}

// e^(z^2 / 2) P(X > z) for standard normal X: Mills' ratio times the density at 0.
template <class T>
const Pieces<T>& NormalTail();
// erf(z) / z.
const Pieces<float>& ErfOverItsArgument();

}  // namespace internal

// x P(X <= x) for standard normal X.
template <std::floating_point T>
class GeluOfVec {
 public:
  FIRN_ALWAYS_INLINE Vec<T> operator()(Vec<T> x) const {
    const Vec<T> size = internal::Size<T>(x);
    const Vec<T> less = Less(internal::AtMost<T>(size, internal::kLastOfBell<T>));
    const Vec<T> most = T(0.5) * x + T(0.5) * size;  // x or 0; NaN for -inf, as 0 times infinity is
    return internal::WithSign<T>(most - less, x);
  }

 private:
  // z P(X > z).
  FIRN_ALWAYS_INLINE Vec<float> Less(Vec<float> z) const {
    const Vec<float> product = z * tail_(z);
    const internal::BellCurve bell = internal::BellCurveAt(z);
    return (product + product * bell.rest) * bell.power * 0x1p-64f;
  }
  FIRN_ALWAYS_INLINE Vec<double> Less(Vec<double> z) const {
    const auto tail = tail_.Unrounded(z);
    const Vec<double> high = z * tail.high;
    const Vec<double> low = inner::internal::ProductRest(z, tail.high, high) + z * tail.low;
    return internal::TimesBellCurve({high, low}, z);
  }

  // Where registers cannot hold the tables, copying them for each row would take longer than a
  // short row.
  std::conditional_t<std::same_as<T, float>, Pieces<T>, const Pieces<T>&> tail_ =
      internal::NormalTail<T>();
};

// dy times the derivative of Gelu: P(X <= x) + x density(x).
template <std::same_as<float> T>
class GeluGradOfVec {
 public:
  FIRN_ALWAYS_INLINE Vec<T> operator()(Vec<T> dy, Vec<T> x) const {
    const Vec<T> z = internal::AtMost<T>(internal::Size<T>(x), internal::kLastOfBell<T>);
    const internal::BellCurve bell = internal::BellCurveAt(z);
    const Vec<T> tail = tail_(z), upper = (tail + tail * bell.rest) * bell.power * 0x1p-64f;
    const Vec<T> integral = x < 0.0f ? upper : 1.0f - upper;
    const Vec<T> density = (bell.power + bell.power * bell.rest) * (0.398942280f * 0x1p-64f);
    return dy * (integral + x * density);
  }

 private:
  Pieces<T> tail_ = internal::NormalTail<T>();
};

template <std::same_as<float> T>
class ErfOfVec {
 public:
  FIRN_ALWAYS_INLINE Vec<T> operator()(Vec<T> x) const {
    constexpr float kLast = 3.92f;  // erf is 1 from there on
    const Vec<T> size = internal::Size<T>(x), z = internal::AtMost<T>(size, kLast);
    const Vec<T> y = z * over_(z);
    return internal::WithSign<T>(size > kLast ? Vec<T>{} + 1.0f : y, x);
  }

 private:
  Pieces<T> over_ = internal::ErfOverItsArgument();
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_VEC_MATH_H_
