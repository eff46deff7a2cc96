#ifndef FIRN_TENSOR_KERNELS_CPU_VEC_MATH_H_
#define FIRN_TENSOR_KERNELS_CPU_VEC_MATH_H_

// Functions of kernels/math*.h whose values for a register of floats come out of tables, in less
// time and with smaller errors where kFastLookUp. Special values are the same, but for the sign of
// NaN. Greatest errors in units of the last place, held by vec_math_test.cc:
//   gelu 1.96   its gradient 2.93, of the larger of its two terms   erf 1.5
//
// Each is an object that holds its tables: a loop makes a copy of its own first, which the compiler
// keeps in registers.

#include <cstdint>
#include <limits>

#include "device/macros.h"
#include "device/own_flags.h"
#include "device/simd.h"
#include "device/simd_lookup.h"
#include "tensor/kernels/cpu/pieces.h"

namespace firn::cpu {
namespace internal {

FIRN_ALWAYS_INLINE Vec<float> Size(Vec<float> x) {
  return reinterpret_cast<Vec<float>>(reinterpret_cast<Vec<int32_t>>(x) & 0x7fffffff);
}
// `y`, which is not positive where `sign` is negative, with its sign.
FIRN_ALWAYS_INLINE Vec<float> WithSign(Vec<float> y, Vec<float> sign) {
  constexpr int32_t kSign = std::numeric_limits<int32_t>::min();
  return reinterpret_cast<Vec<float>>(reinterpret_cast<Vec<int32_t>>(y) |
                                      (reinterpret_cast<Vec<int32_t>>(sign) & kSign));
}
FIRN_ALWAYS_INLINE Vec<float> AtMost(Vec<float> z, float most) {
  return z > most ? Vec<float>{} + most : z;
}

// e^(-z^2 / 2) = (1 + rest) power 2^-64 for 0 <= z <= 14.6; 2^-64, lest powers become subnormal.
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

// Beyond it what is x e^(-x^2 / 2) is nothing.
inline constexpr float kLastOfBell = 14.6f;

// e^(z^2 / 2) P(X > z) for standard normal X: Mills' ratio times the density at 0.
const Pieces& NormalTail();
// erf(z) / z.
const Pieces& ErfOverItsArgument();

}  // namespace internal

// x P(X <= x) for standard normal X.
class GeluOfVec {
 public:
  FIRN_ALWAYS_INLINE Vec<float> operator()(Vec<float> x) const {
    const Vec<float> size = internal::Size(x), z = internal::AtMost(size, internal::kLastOfBell);
    const Vec<float> product = z * tail_(z);
    const internal::BellCurve bell = internal::BellCurveAt(z);
    const Vec<float> less = (product + product * bell.rest) * bell.power;
    const Vec<float> most = 0.5f * x + 0.5f * size;  // x or 0; NaN for -inf, as 0 times infinity is
    return internal::WithSign(most - less * 0x1p-64f, x);
  }

 private:
  Pieces tail_ = internal::NormalTail();
};

// dy times the slope of that: P(X <= x) + x density(x).
class GeluGradOfVec {
 public:
  FIRN_ALWAYS_INLINE Vec<float> operator()(Vec<float> dy, Vec<float> x) const {
    const Vec<float> size = internal::Size(x), z = internal::AtMost(size, internal::kLastOfBell);
    const internal::BellCurve bell = internal::BellCurveAt(z);
    const Vec<float> tail = tail_(z), upper = (tail + tail * bell.rest) * bell.power * 0x1p-64f;
    const Vec<float> integral = x < 0.0f ? upper : 1.0f - upper;
    const Vec<float> density = (bell.power + bell.power * bell.rest) * (0.398942280f * 0x1p-64f);
    return dy * (integral + x * density);
  }

 private:
  Pieces tail_ = internal::NormalTail();
};

class ErfOfVec {
 public:
  FIRN_ALWAYS_INLINE Vec<float> operator()(Vec<float> x) const {
    constexpr float kLast = 3.92f;  // erf is 1 from there on
    const Vec<float> size = internal::Size(x), z = internal::AtMost(size, kLast);
    const Vec<float> y = z * over_(z);
    return internal::WithSign(size > kLast ? Vec<float>{} + 1.0f : y, x);
  }

 private:
  Pieces over_ = internal::ErfOverItsArgument();
};

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_VEC_MATH_H_
