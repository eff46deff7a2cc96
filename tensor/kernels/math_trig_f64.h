#ifndef FIRN_TENSOR_KERNELS_MATH_TRIG_F64_H_
#define FIRN_TENSOR_KERNELS_MATH_TRIG_F64_H_

// Sine, cosine and tangent of doubles: straight-line code for arguments up to kFewTurns, right to
// one unit of the last place; for larger ones it calls the standard library, which is better done
// outside of a loop (SinFn and its like do so). pi / 2 is given in three parts; a whole number
// below 2^20 times each of the first two is exact, and the remainder is a sum of two; polynomials
// and the way to add them are those of Sun's fdlibm, 1993.

#include "firn/device/product_rest.h"
#include "firn/tensor/kernels/math_exp_f64.h"

namespace firn::math {
namespace internal {

inline constexpr double kFewTurns = 1e6;
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool HasManyTurns(double x) { return Abs(x) > kFewTurns; }

// x = quadrant * pi / 2 + r + rest with |r| <= pi / 4. The quadrant counts modulo 4 in its low
// bits.
struct TrigReductionF64 {
  double r, rest;
  uint64_t quadrant;
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE TrigReductionF64 ReduceTrigF64(double x) {
  constexpr double kFirst = 1.57079632673412561417e+00, kSecond = 6.07710050630396597660e-11,
                   kThird = 2.02226624879595063154e-21;
  const double shifted = x * 0.63661977236758134 + kShiftF64;
  const double n = shifted - kShiftF64;
  const double a = x - n * kFirst, b = n * kSecond;
  const double high = a - b;
  const double low = n * kThird - ((a - high) - b);
  const double r = high - low;
  return {r, (high - r) - low, std::bit_cast<uint64_t>(shifted)};
}

// sin(r + rest) and cos(r + rest); their sums are off by little more than half a unit.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE SumF64 SmallSin(double r, double rest) {
  const double z = r * r, cube = z * r;
  const double p = Polynomial(z, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
                              2.75573137070700676789e-06, -2.50507602534068634195e-08,
                              1.58969099521155010221e-10);
  const double less = (z * (0.5 * rest - cube * p) - rest) - cube * -1.66666666666666324348e-01;
  const double y = r - less;
  return {y, (r - y) - less};
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE SumF64 SmallCos(double r, double rest) {
  const double z = r * r, half = 0.5 * z, one = 1.0 - half;
  const double p = Polynomial(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03,
                              2.48015872894767294178e-05, -2.75573143513906633035e-07,
                              2.08757232129817482790e-09, -1.13596475577881948265e-11);
  const double more = ((1.0 - one) - half) + (z * z * p - r * rest), y = one + more;
  return {y, (one - y) + more};
}

// The sine for an even quadrant, the cosine for an odd one, negated in the upper two.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double SineOf(const TrigReductionF64& t, uint64_t quadrant) {
  const double sine = SmallSin(t.r, t.rest).high, cosine = SmallCos(t.r, t.rest).high;
  const double y = (quadrant & 1u) != 0 ? cosine : sine;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(y) ^ ((quadrant & 2u) << 62));
}

// For |x| <= kFewTurns.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double SinOfFewTurns(double x) {
  const TrigReductionF64 t = ReduceTrigF64(x);
  const double y = SineOf(t, t.quadrant);
  return x == 0.0 ? x : y;  // keeps -0
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double CosOfFewTurns(double x) {
  const TrigReductionF64 t = ReduceTrigF64(x);
  return SineOf(t, t.quadrant + 1u);
}
// The quotient of the two, corrected by a step of Newton's method from its remainder.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double TanOfFewTurns(double x) {
  const TrigReductionF64 t = ReduceTrigF64(x);
  const SumF64 sine = SmallSin(t.r, t.rest), cosine = SmallCos(t.r, t.rest);
  const bool odd = (t.quadrant & 1u) != 0;
  const double top = odd ? -cosine.high : sine.high, bottom = odd ? sine.high : cosine.high;
  const double top_rest = odd ? -cosine.low : sine.low, bottom_rest = odd ? sine.low : cosine.low;
  const double over = 1.0 / bottom, q = top * over, back = inner::RoundedProduct(q, bottom);
  const double left =
      ((top - back) - inner::ProductRest(q, bottom, back)) + (top_rest - q * bottom_rest);
  const double y = q + left * over;
  return x == 0.0 ? x : y;
}

}  // namespace internal

FIRN_HOST_DEVICE inline double Sin(double x) {
  return internal::HasManyTurns(x) ? std::sin(x) : internal::SinOfFewTurns(x);
}
FIRN_HOST_DEVICE inline double Cos(double x) {
  return internal::HasManyTurns(x) ? std::cos(x) : internal::CosOfFewTurns(x);
}
FIRN_HOST_DEVICE inline double Tan(double x) {
  return internal::HasManyTurns(x) ? std::tan(x) : internal::TanOfFewTurns(x);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_TRIG_F64_H_
