#ifndef FIRN_TENSOR_KERNELS_MATH_GAMMA_H_
#define FIRN_TENSOR_KERNELS_MATH_GAMMA_H_

// The logarithm of the gamma function and its two first derivatives, for kernels. All in double,
// with branches: a loop over them does not vectorise. Arguments from 10 on take Stirling's series;
// smaller ones are shifted by gamma(x + 1) = x gamma(x), negative ones reflected by
// gamma(x) gamma(1 - x) = pi / sin(pi x) (Abramowitz and Stegun, Handbook of Mathematical
// Functions, 1964, chapter 6). Off by about 1e-15 of the value or of 1, whatever is larger; around
// 1 and 2, where the logarithm has its zeros, by that of the value.

#include "tensor/kernels/math.h"

namespace firn::math {
namespace internal {

inline constexpr double kPi = 3.14159265358979324;

// x - n for the integer n next to x: what sin(pi x) depends on but for its sign.
FIRN_HOST_DEVICE inline double FromInteger(double x) { return x - std::nearbyint(x); }

// log(gamma(2 + z)) for |z| <= 1/2: z times a minimax polynomial.
FIRN_HOST_DEVICE inline double LgammaFrom2(double z) {
  return z * Polynomial(z, 0.42278433509846713, 0.32246703342411326, -0.067352301053195604,
                        0.020580808427777212, -0.0073855510289379317, 0.002890510331211577,
                        -0.0011927539009212323, 0.0005096695109541074, -0.00022315497868230272,
                        9.9457732985544121e-05, -4.4923717107782352e-05, 2.0505141287546262e-05,
                        -9.4563381243785994e-06, 4.3866405502468012e-06, -1.9741882416421299e-06,
                        9.1562730296416173e-07, -5.8125048142899942e-07, 2.8290601099357729e-07);
}

// For x > 0.
FIRN_HOST_DEVICE inline double LgammaOfPositive(double x) {
  if (x < 0.5) return LgammaFrom2(x) - std::log1p(x) - std::log(x);
  if (x < 1.5) return LgammaFrom2(x - 1) - std::log1p(x - 1);
  if (x < 10) {
    double product = 1;
    while (x > 2.5) product *= (x -= 1);
    return LgammaFrom2(x - 2) + std::log(product);
  }
  const double r = 1 / x, r2 = r * r;
  const double series = r * Polynomial(r2, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680,
                                       1.0 / 1188, -691.0 / 360360, 1.0 / 156);
  // (x - 1/2) log x - x + log(2 pi) / 2, which is infinite no sooner than the result.
  return (x - 0.5) * (std::log(x) - 1) + (0.418938533204672742 + series);
}

}  // namespace internal

// log |gamma(x)|: infinite at 0, -1, -2, ... and at both infinities.
FIRN_HOST_DEVICE inline double Lgamma(double x) {
  if (!(x <= 0)) return internal::LgammaOfPositive(x);
  const double r = internal::FromInteger(x);
  if (r == 0 || x < -0x1p53) return std::numeric_limits<double>::infinity();
  const double sine = std::sin(internal::kPi * Abs(r));
  return std::log(internal::kPi / sine) - internal::LgammaOfPositive(1 - x);
}
FIRN_HOST_DEVICE inline float Lgamma(float x) {
  return static_cast<float>(Lgamma(static_cast<double>(x)));
}

// The derivative of log(gamma(x)). As PyTorch's: -inf at 0, inf at -0, NaN at -1, -2, ...
FIRN_HOST_DEVICE inline double Digamma(double x) {
  double y = 0;
  if (x <= 0) {
    if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
    const double r = internal::FromInteger(x);
    if (!(r != 0)) return std::numeric_limits<double>::quiet_NaN();
    y = -internal::kPi / std::tan(internal::kPi * r);
    x = 1 - x;
  }
  for (; x < 10; x += 1) y -= 1 / x;
  const double r = 1 / x, r2 = r * r;
  const double series = r2 * Polynomial(r2, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132,
                                        -691.0 / 32760, 1.0 / 12);
  return y + (std::log(x) - 0.5 * r - series);
}
FIRN_HOST_DEVICE inline float Digamma(float x) {
  return static_cast<float>(Digamma(static_cast<double>(x)));
}

// The derivative of Digamma: infinite at 0, -1, -2, ...
FIRN_HOST_DEVICE inline double Trigamma(double x) {
  double y = 0, sign = 1;
  if (x <= 0) {
    const double sine = std::sin(internal::kPi * internal::FromInteger(x));
    y = internal::kPi * internal::kPi / (sine * sine);
    sign = -1;
    x = 1 - x;
  }
  double sum = 0;
  for (; x < 10; x += 1) sum += 1 / (x * x);
  const double r = 1 / x, r2 = r * r;
  const double series =
      r2 * r *
      Polynomial(r2, 1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6);
  return y + sign * (sum + (r + 0.5 * r2 + series));
}
FIRN_HOST_DEVICE inline float Trigamma(float x) {
  return static_cast<float>(Trigamma(static_cast<double>(x)));
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_GAMMA_H_
