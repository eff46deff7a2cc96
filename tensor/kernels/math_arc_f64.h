#ifndef FIRN_TENSOR_KERNELS_MATH_ARC_F64_H_
#define FIRN_TENSOR_KERNELS_MATH_ARC_F64_H_

// The inverse trigonometric and hyperbolic functions of doubles: straight-line code. An angle is a
// multiple of pi / 2, in two doubles, and a number below 1 with its rest: the rounding errors of
// quotients, roots and sums go into the rest.

#include "firn/device/product_rest.h"
#include "firn/tensor/kernels/math_log_f64.h"

namespace firn::math {
namespace internal {

// pi / 2 in two doubles.
inline constexpr double kHalfPiHigh = 1.57079632679489655800,
                        kHalfPiLow = 6.12323399573676603587e-17;

// quarters * pi / 2 + part + rest.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double AngleOf(double quarters, double part, double rest) {
  const double base = quarters * kHalfPiHigh, sum = base + part;
  return sum + (((base - sum) + part) + (quarters * kHalfPiLow + rest));
}

// asin(s) - s for s^2 = z, 0 <= z <= 1/4.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double AsinRest(double s, double z) {
  return s * z *
         Polynomial(z, 0.16666666666666669, 0.074999999999983274, 0.044642857146560536,
                    0.030381944123005229, 0.022372173548599095, 0.017352378757818247,
                    0.013971416617433006, 0.011477223574838984, 0.010335312626302606,
                    0.0054047255349227641, 0.017542175949021854, -0.015069102918112013,
                    0.028903900750686398);
}

// x, or sqrt((1 - |x|) / 2) for |x| > 1/2, with the difference of its arc sine to it.
struct HalfArcF64 {
  bool far;
  double s, rest;
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE HalfArcF64 HalfArc(double x) {
  const double size = Abs(x);
  const bool far = size > 0.5;
  const double z = far ? 0.5 * (1.0 - size) : size * size;
  const double root = std::sqrt(z), square = inner::RoundedProduct(root, root);
  const double lost = ((z - square) - inner::ProductRest(root, root, square)) * 0.5 / root;
  const double s = far ? root : x;
  const double more = far & (root > 0.0) ? lost : -0.0;  // keeps -0
  return {far, s, AsinRest(s, z) + more};
}

// The arc tangent of a / b, 0 <= a <= b: an eighth of a turn or 0, and the arc tangent of a
// quotient below tan(pi / 8) with its rest. With `by_inverse` it divides only once, and quotients
// too small for a rest are off by a unit.
struct SlopeF64 {
  double quarters, q, rest;
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE SlopeF64 AtanOfSlope(double a, double b, bool by_inverse) {
  const bool steep = a > 0.41421356237309505 * b;
  const double top = steep ? a - b : a, bottom = steep ? a + b : b;
  const double top_low = steep ? a - (top + b) : 0.0, bottom_low = steep ? a - (bottom - b) : 0.0;
  const double over = 1.0 / bottom, q = by_inverse ? top * over : top / bottom;
  const double back = inner::RoundedProduct(q, bottom);
  const double left =
      ((top - back) - inner::ProductRest(q, bottom, back)) + (top_low - q * bottom_low);
  const double z = q * q;
  const double lost = left * over * (1.0 - z);
  // A product this small has no exact rest: `bottom` may be as small as 2^-300.
  return {steep ? 0.5 : 0.0, q,
          (Abs(q) > 1e-200 ? lost : 0.0) +
              q * z *
                  Polynomial(z, -0.33333333333333331, 0.19999999999995516, -0.14285714284665682,
                             0.11111111015187018, -0.090909045753064896, 0.076921831253768919,
                             -0.066645105255089362, 0.058581409048663283, -0.050854078345894844,
                             0.039230447784793093, -0.019175404711104935)};
}

// The same for numbers of any size, two zeros (no angle) and two infinities (an eighth).
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE SlopeF64 AtanOfAnySlope(double small, double large) {
  const double down = large > 1e290 ? 0x1p-60 : 1.0;  // sums and products stay in the range
  const double scale = large < 0x1p-300 ? 0x1p600 : down;
  const bool equal = small == large;
  const double a = equal & (large > 0.0) ? 1.0 : small * scale, b = equal ? 1.0 : large * scale;
  return AtanOfSlope(a, b, false);
}

}  // namespace internal

// Beyond 1/2 by asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)).
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Asin(double x) {
  const internal::HalfArcF64 a = internal::HalfArc(x);
  const double near = x + a.rest;
  return a.far ? WithSign(internal::AngleOf(1.0, -2.0 * a.s, -2.0 * a.rest), x) : near;
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Acos(double x) {
  const internal::HalfArcF64 a = internal::HalfArc(x);
  const double below = x < 0.0 ? 2.0 : 0.0, times = x < 0.0 ? -2.0 : 2.0;
  const double quarters = a.far ? below : 1.0, factor = a.far ? times : -1.0;
  return internal::AngleOf(quarters, factor * a.s, factor * a.rest);
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Atan(double x) {
  const double size = Abs(x);
  const bool far = size > 1.0;
  const internal::SlopeF64 a = internal::AtanOfSlope(far ? 1.0 : size, far ? size : 1.0, true);
  const double sign = far ? -1.0 : 1.0, base = far ? 1.0 : 0.0;
  return WithSign(internal::AngleOf(base + sign * a.quarters, sign * a.q, sign * a.rest), x);
}

// The angle of the point (x, y), with C's special values.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Atan2(double y, double x) {
  const double up = Abs(y), side = Abs(x);
  const bool steep = up > side;
  const internal::SlopeF64 a = internal::AtanOfAnySlope(steep ? side : up, steep ? up : side);
  const bool minus = (std::bit_cast<uint64_t>(x) >> 63) != 0;
  const double flat = minus ? 2.0 : 0.0, toward = minus ? -1.0 : 1.0;
  const double base = steep ? 1.0 : flat, sign = steep ? -toward : toward;
  return WithSign(internal::AngleOf(base + sign * a.quarters, sign * a.q, sign * a.rest), y);
}

namespace internal {

// From here on the square of a number adds nothing to it, nor 1 to its logarithm's argument.
inline constexpr double kLargeArea = 1e100;
// Below, a number's third power adds nothing to it.
inline constexpr double kSmallAreaF64 = 0x1p-28;

// sqrt(square + low) as a sum of two; 0 for 0.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE SumF64 RootOf(double square, double low) {
  const double root = std::sqrt(square), back = inner::RoundedProduct(root, root);
  const double left = ((square - back) - inner::ProductRest(root, root, back)) + low;
  return {root, root > 0.0 ? left * 0.5 / root : 0.0};
}

}  // namespace internal

// log(x + sqrt(x^2 + 1)) = log(1 + x + x^2 / (1 + sqrt(1 + x^2))).
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Asinh(double x) {
  const double size = Abs(x);
  const bool large = size > internal::kLargeArea;
  const double s = large ? 1.0 : size;
  const double z = inner::RoundedProduct(s, s), z_low = inner::ProductRest(s, s, z);
  const double square = 1.0 + z;
  const double lost = z < 1.0 ? z - (square - 1.0) : 1.0 - (square - z);
  const internal::SumF64 root = internal::RootOf(square, lost + z_low);
  const double d = 1.0 + root.high, d_low = (1.0 - (d - root.high)) + root.low;
  const double over = 1.0 / d, q = z * over, back = inner::RoundedProduct(q, d);
  const double left = ((z - back) - inner::ProductRest(q, d, back)) + (z_low - q * d_low);
  const double sum = s + q;
  const double low = (s > q ? q - (sum - s) : s - (sum - q)) + left * over;
  const double y = internal::Log1pOfSum(large ? size : sum, large ? 0.0 : low, large ? 1.0 : 0.0);
  return WithSign(size < internal::kSmallAreaF64 ? size : y, x);
}

// log(x + sqrt(x^2 - 1)); NaN below 1.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Acosh(double x) {
  const bool large = x > internal::kLargeArea;
  const double t = large ? 1.0 : x - 1.0;
  const double up = 2.0 + t, up_low = t < 2.0 ? t - (up - 2.0) : 2.0 - (up - t);
  const double square = inner::RoundedProduct(t, up);
  const internal::SumF64 root =
      internal::RootOf(square, inner::ProductRest(t, up, square) + t * up_low);
  const double sum = t + root.high;  // the root is the larger
  const double low = (t - (sum - root.high)) + root.low;
  const double y = internal::Log1pOfSum(large ? x : sum, large ? 0.0 : low, large ? 1.0 : 0.0);
  return x < 1.0 ? internal::kNanF64 : y;
}

// log((1 + x) / (1 - x)) / 2; infinite at 1 and -1, NaN beyond.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Atanh(double x) {
  const double size = Abs(x), d = 1.0 - size, d_low = (1.0 - d) - size;
  const double q = 2.0 * size / d, back = inner::RoundedProduct(q, d);
  const double left = ((2.0 * size - back) - inner::ProductRest(q, d, back)) - q * d_low;
  const double y = 0.5 * internal::Log1pOfSum(q, size < 1.0 ? left / d : 0.0, 0.0);
  const double usual = size < internal::kSmallAreaF64 ? size : y;
  const double inside = size == 1.0 ? internal::kInfF64 : usual;
  return WithSign(size > 1.0 ? internal::kNanF64 : inside, x);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_ARC_F64_H_
