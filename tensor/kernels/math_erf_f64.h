#ifndef FIRN_TENSOR_KERNELS_MATH_ERF_F64_H_
#define FIRN_TENSOR_KERNELS_MATH_ERF_F64_H_

// The error function and the normal distribution of doubles, in straight-line code. The polynomials
// are minimax approximations; those of the tails are in u = 1 / (1 + 0.4 z), which maps all of them
// to an interval (M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of
// (1 + 2x) exp(x^2) erfc x", 1981).

#include "firn/tensor/kernels/math_exp_f64.h"

namespace firn::math {
namespace internal {

// The error function for |x| <= 0.48.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double SmallErf(double x) {
  return x + x * Polynomial(x * x, 0.12837916709551256, -0.37612638903183609, 0.11283791670938291,
                            -0.026866170637609276, 0.0052239774569965442, -0.00085483058138101625,
                            0.00012053761452702162, -1.4857539019415343e-05,
                            1.4855584282795842e-06);
}

// e^(-scale x^2) = m 2^n for |x| < 40: a number that is multiplied by m and then scaled is rounded
// once, also where it is subnormal.
struct ScaledF64 {
  double m;
  uint64_t n;
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE ScaledF64 ExpMinusSquare(double x, double scale) {
  const double square = inner::RoundedProduct(x, x), lost = inner::ProductRest(x, x, square);
  const ExpReductionF64 e = ReduceExp(-scale * square);
  const double low = e.rest - scale * lost, r = e.r + low;
  return {ExpOfReduced({r, (e.r - r) + low, e.n}), e.n};
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Erf(double x) {
  const double z = Abs(x), square = inner::RoundedProduct(x, x),
               lost = inner::ProductRest(x, x, square);
  // The polynomial is around 3/4, where its terms are smaller than around 0. Its slope is about
  // -0.2.
  const double w = square - 0.75;
  const double slope = Polynomial(
      w, -0.24458841374655804, 0.06691888796466304, -0.01513114470010561, 0.0028472083349679613,
      -0.0004554912389204078, 6.3185053706736824e-05, -7.7253341155534155e-06,
      8.4369523967222383e-07, -8.3211580621172819e-08, 7.4791838051304763e-09,
      -6.1758353176626083e-10, 4.7572928094554525e-11, -3.2779457522336221e-12);
  const double near = x + x * (-0.10010880203447822 + (w * slope - 0.2 * lost));
  // It is below 0.09, so that an error of a few units in its last place does not matter.
  const double u = 1.0 / (2.5 + z);
  const double tail =
      u * (internal::ExpInRange(-square) * (1.0 - lost)) *
      Polynomial((z - 2.5) * u, 1.054031820305718, -0.80465184943914903, 0.45391411664805181,
                 -0.17125114524597379, 0.028361550137612837, 0.0083930442937893146,
                 -0.00481878578833384, -0.00043920784196751204, 0.00070269966504648554,
                 5.8297640605099065e-05, -0.00011267317894713883, -1.9406410930490462e-05,
                 1.8634491888574389e-05, 5.9755402265309158e-06, -3.2065666558245393e-06);
  const double far = WithSign(z < 6.0 ? 1.0 - tail : 1.0, x);
  const double finite = z < 1.2 ? near : far;
  return x == x ? finite : x;
}

// The standard normal density and distribution function, which share an exponential.
template <class T>
struct NormalValue {
  T density;   // e^(-x^2 / 2) / sqrt(2 pi)
  T integral;  // of the density from -infinity to x; in (0, 1), accurate in both tails
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE NormalValue<double> Normal(double x) {
  const double size = Abs(x), z = size > 39.0 ? 39.0 : size;
  const internal::ScaledF64 e = internal::ExpMinusSquare(z, 0.5);
  const double u = 1.0 / (3.5 + z);
  const double scaled =
      u * Polynomial((z - 3.5) * u, 0.74441607543593813, -0.56556181605377698, 0.3154249698879607,
                     -0.11605092871433041, 0.017407832601663637, 0.0064762189293061925,
                     -0.0031891010427407425, -0.00044501311088736842, 0.00047665708890745178,
                     6.703472135908009e-05, -7.558504206003406e-05, -1.8797030584818555e-05,
                     1.1510741538974048e-05, 5.6788803815224167e-06, -1.1839820784847466e-06,
                     -1.5327140065709215e-06, -9.6531492666244224e-08, 3.5365311576230823e-07,
                     6.2787074360034235e-08, -6.0105870603199889e-08);
  const double upper = internal::ScaleF64(scaled * e.m, e.n);
  const double far = x < 0.0 ? upper : 1.0 - upper;
  const double near =
      0.5 + x * Polynomial(x * x, 0.3989422804014327, -0.066490380066905178, 0.0099735570100202182,
                           -0.0011873282151349815, 0.00011543468377783384, -9.4446322652301835e-06,
                           6.6588103927112041e-07, -4.1036464001922123e-08, 2.0504875770794254e-09);
  return {internal::ScaleF64(0.39894228040143268 * e.m, e.n), z < 0.67 ? near : far};
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_ERF_F64_H_
