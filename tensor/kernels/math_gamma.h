#ifndef FIRN_TENSOR_KERNELS_MATH_GAMMA_H_
#define FIRN_TENSOR_KERNELS_MATH_GAMMA_H_

// The logarithm of the gamma function and its two first derivatives, for kernels. All in double, in
// straight-line code as in math.h. Arguments from 10 on take Stirling's series; smaller ones are
// shifted by gamma(x + 1) = x gamma(x), those below 1/2 reflected by
// gamma(x) gamma(1 - x) = pi / sin(pi x) (Abramowitz and Stegun, Handbook of Mathematical
// Functions, 1964, chapter 6). Off by about 1e-15 of the value or of 1, whichever is larger; around
// 1 and 2, where the logarithm has its zeros, by 1e-15 of the value.

#include "firn/tensor/kernels/math.h"
#include "firn/tensor/kernels/math_trig_f64.h"

namespace firn::math {
namespace internal {

inline constexpr double kPi = 3.14159265358979324;

// x - n for the integer n next to x, on which sin(pi x) depends except for its sign.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double FromInteger(double x) { return x - std::nearbyint(x); }

// log(gamma(2 + z)) for |z| <= 1/2: z times a minimax polynomial.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double LgammaFrom2(double z) {
  return z * Polynomial(z, 0.42278433509846713, 0.32246703342411326, -0.067352301053195604,
                        0.020580808427777212, -0.0073855510289379317, 0.002890510331211577,
                        -0.0011927539009212323, 0.0005096695109541074, -0.00022315497868230272,
                        9.9457732985544121e-05, -4.4923717107782352e-05, 2.0505141287546262e-05,
                        -9.4563381243785994e-06, 4.3866405502468012e-06, -1.9741882416421299e-06,
                        9.1562730296416173e-07, -5.8125048142899942e-07, 2.8290601099357729e-07);
}

// Up to kSteps steps of gamma's shift, written out, because a loop within a loop would not be
// vectorised. product * (v - 1) (v - 2) ... while v is above 2.5, to (1.5, 2.5].
template <int kSteps>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void MultiplyDown(double& v, double& product) {
  const bool step = v > 2.5;
  v = step ? v - 1 : v;
  product = step ? product * v : product;
  if constexpr (kSteps > 1) MultiplyDown<kSteps - 1>(v, product);
}
// sum + 1 / v^kPower + 1 / (v + 1)^kPower + ... while v is below 10.
template <int kSteps, int kPower>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE void AddUp(double& v, double& sum) {
  const bool step = v < 10;
  sum = step ? sum + 1 / (kPower == 1 ? v : v * v) : sum;
  v = step ? v + 1 : v;
  if constexpr (kSteps > 1) AddUp<kSteps - 1, kPower>(v, sum);
}

// For x >= 1/2. One logarithm serves all cases: that of x below 1.5 and from 10 on, and in between
// that of the product from shifting.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double LgammaFromHalf(double x) {
  double product = 1, v = x;
  MultiplyDown<8>(v, product);
  const bool low = x < 1.5, high = !(x < 10);
  const double log = Log(low | high ? x : product);
  const double near = LgammaFrom2(low ? x - 1 : v - 2) + (low ? -log : log);
  const double r = 1 / x, r2 = r * r;
  const double series = r * Polynomial(r2, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680,
                                       1.0 / 1188, -691.0 / 360360, 1.0 / 156);
  // (x - 1/2) log x - x + log(2 pi) / 2, which is infinite no sooner than the result.
  const double far = (x - 0.5) * (log - 1) + (0.418938533204672742 + series);
  return high ? far : near;
}

// sin(pi x) for |x| <= 1/2.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double SinPi(double x) { return SinOfFewTurns(kPi * x); }

}  // namespace internal

// log |gamma(x)|: infinite at 0, -1, -2, ... and at both infinities.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Lgamma(double x) {
  const bool reflect = x < 0.5;
  const double value = internal::LgammaFromHalf(reflect ? 1 - x : x);
  const double r = internal::FromInteger(x);
  // The division by pi comes last, because the sine may be subnormal.
  const double mirrored = -Log(internal::SinPi(Abs(r)) * 0.318309886183790672) - value;
  const bool pole = (x <= 0) & ((r == 0) | (x < -0x1p53));
  return pole ? std::numeric_limits<double>::infinity() : (reflect ? mirrored : value);
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Lgamma(float x) {
  return static_cast<float>(Lgamma(static_cast<double>(x)));
}

// The derivative of log(gamma(x)), with PyTorch's special values: -inf at 0, inf at -0, NaN at -1,
// -2, ...
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Digamma(double x) {
  const bool reflect = x <= 0;
  const double turn = internal::kPi * internal::FromInteger(x);
  const double y = reflect ? -internal::kPi / internal::TanOfFewTurns(turn) : 0;
  double sum = 0, v = reflect ? 1 - x : x;
  internal::AddUp<10, 1>(v, sum);
  const double r = 1 / v, r2 = r * r;
  const double series = r2 * Polynomial(r2, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132,
                                        -691.0 / 32760, 1.0 / 12);
  const double value = (y - sum) + (Log(v) - 0.5 * r - series);
  const double checked = reflect & !(turn != 0) ? internal::kNanF64 : value;
  return x == 0 ? -1 / x : checked;
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Digamma(float x) {
  return static_cast<float>(Digamma(static_cast<double>(x)));
}

// The derivative of Digamma: infinite at 0, -1, -2, ...
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Trigamma(double x) {
  const bool reflect = x <= 0;
  const double sine = internal::SinPi(internal::FromInteger(x));
  const double y = internal::kPi * internal::kPi / (sine * sine);
  double sum = 0, v = reflect ? 1 - x : x;
  internal::AddUp<10, 2>(v, sum);
  const double r = 1 / v, r2 = r * r;
  const double series =
      r2 * r *
      Polynomial(r2, 1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6);
  const double value = sum + (r + 0.5 * r2 + series);
  return reflect ? y - value : value;
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Trigamma(float x) {
  return static_cast<float>(Trigamma(static_cast<double>(x)));
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_GAMMA_H_
