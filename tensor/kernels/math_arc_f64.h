#ifndef FIRN_TENSOR_KERNELS_MATH_ARC_F64_H_
#define FIRN_TENSOR_KERNELS_MATH_ARC_F64_H_

// The inverse trigonometric and hyperbolic functions of doubles: straight-line code. An angle is a
// multiple of pi / 2, in two doubles, and a number below 1 with its rest: what a quotient or a root
// rounds off goes into the rest, and what their sum rounds off too.

#include "device/product_rest.h"
#include "tensor/kernels/math_log_f64.h"

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

// x, or sqrt((1 - |x|) / 2) for |x| > 1/2, with what the arc sine adds to it.
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

// The arc tangent of small / large, 0 <= small <= large, as a quotient and a rest.
struct SlopeF64 {
  double q, rest;
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE SlopeF64 AtanOfSlope(double small, double large) {
  const double equal = large == 0.0 ? 0.0 : 1.0;  // two zeros, two infinities
  const double q = small == large ? equal : small / large;
  const double back = inner::RoundedProduct(q, large);
  const double left = ((small - back) - inner::ProductRest(q, large, back)) / large;
  const double z = q * q;
  double lost = left * (1.0 - 0.5 * z);
  // Where products leave the range there is no rest to be had.
  lost = large < 1e290 ? lost : 0.0;
  lost = large > 1e-290 ? lost : 0.0;
  lost = q > 1e-290 ? lost : 0.0;
  return {q,
          lost + q * z *
                     Polynomial(z, -0.33333333333333331, 0.19999999999999593, -0.14285714285653522,
                                0.11111111107499971, -0.090909089768375084, 0.076923054770091204,
                                -0.066666378063508502, 0.058820857799201834, -0.052613283056456885,
                                0.047523585997422811, -0.04309023235275105, 0.038749652759768285,
                                -0.033796730762781634, 0.027640759193741406, -0.020327032138264631,
                                0.012838428595761137, -0.006633340347964335, 0.0026523918513472796,
                                -0.00076215098727379349, 0.00013908790128857573,
                                -1.2052878925395991e-05)};
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
  const internal::SlopeF64 a = internal::AtanOfSlope(far ? 1.0 : size, far ? size : 1.0);
  const double sign = far ? -1.0 : 1.0;
  return WithSign(internal::AngleOf(far ? 1.0 : 0.0, sign * a.q, sign * a.rest), x);
}

// The angle of the point (x, y), with C's special values.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Atan2(double y, double x) {
  const double up = Abs(y), side = Abs(x);
  const bool steep = up > side;
  const internal::SlopeF64 a = internal::AtanOfSlope(steep ? side : up, steep ? up : side);
  const bool minus = (std::bit_cast<uint64_t>(x) >> 63) != 0;
  const double flat = minus ? 2.0 : 0.0, toward = minus ? -1.0 : 1.0;
  const double quarters = steep ? 1.0 : flat, sign = steep ? -toward : toward;
  return WithSign(internal::AngleOf(quarters, sign * a.q, sign * a.rest), y);
}

namespace internal {

// From here on the square of a number adds nothing to it, nor 1 to its logarithm's argument.
inline constexpr double kLargeArea = 1e100;
inline constexpr double kLn2F64 = 0.693147180559945309;

}  // namespace internal

// log(x + sqrt(x^2 + 1)).
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Asinh(double x) {
  const double size = Abs(x), z = x * x;
  const bool large = size > internal::kLargeArea;
  const double y = Log1p(large ? size : size + z / (1.0 + std::sqrt(1.0 + z)));
  return WithSign(large ? y + internal::kLn2F64 : y, x);
}

// log(x + sqrt(x^2 - 1)); NaN below 1.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Acosh(double x) {
  const double t = x - 1.0;
  const bool large = x > internal::kLargeArea;
  const double y = Log1p(large ? x : t + std::sqrt(t * (2.0 + t)));
  const double above = large ? y + internal::kLn2F64 : y;
  return x < 1.0 ? internal::kNanF64 : above;
}

// log((1 + x) / (1 - x)) / 2; infinite at 1 and -1, NaN beyond.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Atanh(double x) {
  const double size = Abs(x);
  const double y = 0.5 * Log1p(2.0 * size / (1.0 - size));
  const double inside = size == 1.0 ? internal::kInfF64 : y;
  return WithSign(size > 1.0 ? internal::kNanF64 : inside, x);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_ARC_F64_H_
