#ifndef FIRN_TENSOR_KERNELS_MATH_POW_F64_H_
#define FIRN_TENSOR_KERNELS_MATH_POW_F64_H_

// Powers of doubles and logarithms to the bases 2 and 10, in straight-line code, right to one unit
// of the last place. The exponent multiplies the logarithm's error, so that the logarithm is a sum
// of two doubles, to about 2^-66.

#include "firn/device/product_rest.h"
#include "firn/tensor/kernels/math_log_f64.h"

namespace firn::math {
namespace internal {

// log(x) for positive and finite x. With s = f / (2 + f) for x = (1 + f) 2^k, it is
// k log(2) + 2 s + 2 s^3 (1/3 + s^2 (1/5 + ...)).
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE SumF64 LogAsSum(double x) {
  using inner::ProductRest;
  using inner::RoundedProduct;
  const NormalF64 normal = MakeNormal(x);
  const LogReductionF64 l = ReduceLog(normal.x);
  const double f = l.m - 1.0, d = f + 2.0, d_rest = f - (d - 2.0);
  const double over = 1.0 / d, s = f * over, back = RoundedProduct(s, d);
  const double s_rest = (((f - back) - ProductRest(s, d, back)) - s * d_rest) * over;
  const double z = RoundedProduct(s, s), z_rest = ProductRest(s, s, z) + 2.0 * s * s_rest;
  // 1/3 + z P(z), times z, times s.
  constexpr double kThird = 1.0 / 3, kThirdRest = 1.850371707708594e-17;
  const double p = z * Polynomial(z, 0.20000000000000001, 0.14285714285714282, 0.11111111111114221,
                                  0.090909090898267916, 0.076923078808095277, 0.066666482508887404,
                                  0.058834072175607453, 0.05228149879968385, 0.053813291192360474);
  const double t = kThird + p, t_rest = ((kThird - t) + p) + kThirdRest;
  const double u = RoundedProduct(z, t), u_rest = ProductRest(z, t, u) + (z * t_rest + z_rest * t);
  const double v = RoundedProduct(s, u), v_rest = ProductRest(s, u, v) + (s * u_rest + s_rest * u);
  const double a = s + v, a_rest = ((s - a) + v) + (s_rest + v_rest);
  // ln 2, of which 11 binary places of the first part are 0.
  constexpr double kHigh = 0x1.62e42fefa3800p-1, kLow = 0x1.ef35793c76730p-45;
  const double k = l.k - normal.down, whole = k * kHigh;
  const double high = whole + 2.0 * a;
  const double low = ((whole - high) + 2.0 * a) + (2.0 * a_rest + k * kLow);
  const double sum = high + low;
  return {sum, (high - sum) + low};
}

// The logarithm of x to a base: `two` is the logarithm of 2, whose higher part has so few digits
// that products with exponents are exact, and `e` that of e. 2 s and the rest of s leave a
// hundredth of log(1 + f), which may be rounded.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double LogToBase(double x, SumF64 two, SumF64 e) {
  using inner::ProductRest;
  using inner::RoundedProduct;
  const NormalF64 normal = MakeNormal(x);
  const LogReductionF64 l = ReduceLog(normal.x);
  const double f = l.m - 1.0, d = f + 2.0, d_rest = f - (d - 2.0);
  const double over = 1.0 / d, s = f * over, back = RoundedProduct(s, d);
  const double s_rest = (((f - back) - ProductRest(s, d, back)) - s * d_rest) * over;
  const double twice = 2.0 * s, t = s * LogSeries(s * s);
  const double a = twice + t, a_rest = ((twice - a) + t) + 2.0 * s_rest;
  const double y = RoundedProduct(a, e.high);
  const double y_rest = ProductRest(a, e.high, y) + (a * e.low + a_rest * e.high);
  const double k = l.k - normal.down, whole = k * two.high, sum = whole + y;
  const double rest = ((whole - sum) + y) + (y_rest + k * two.low);
  return LogSpecial(x, 0.0, sum + rest);
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Log2(double x) {
  return internal::LogToBase(x, {1.0, 0.0}, {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56});
}
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Log10(double x) {
  return internal::LogToBase(x, {3.01029995663611771306e-01, 3.69423907715893078616e-13},
                             {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57});
}

// With C's special values.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Pow(double x, double y) {
  const double size = Abs(x);
  const internal::SumF64 l = internal::LogAsSum(size);
  const double log_finite = size == 0.0 ? -internal::kInfF64 : l.high;
  const double log = size < internal::kInfF64 ? log_finite : size;
  const double exponent = inner::RoundedProduct(y, log);
  const double rest = inner::ProductRest(y, log, exponent) + y * l.low;
  const internal::ExpReductionF64 e = internal::ReduceExp(exponent);
  const double low = e.rest + rest, r = e.r + low;
  const double m = internal::ExpOfReduced({r, (e.r - r) + low, e.n});
  double power = internal::ScaleF64(m, e.n);
  power = exponent < -746.0 ? 0.0 : power;
  power = exponent > 710.0 ? internal::kInfF64 : power;
  // |x| = 1 with y = +-inf would be 0 * inf.
  const double positive = size == 1.0 ? 1.0 : power;
  // A negative number has only whole powers; for -0 and -inf others exist, too. Conditions on y
  // alone are numbers here: g++ 12 does not vectorise a choice that does not change within the
  // loop.
  const double half = y * 0.5;
  const bool whole = std::trunc(y) == y;
  const bool odd = whole & (std::trunc(half) != half);
  const double signed_power = positive * Select(odd, -1.0, 1.0);
  const double partial = signed_power + Select(whole, -0.0, internal::kNanF64);
  const double below = (size == 0.0) | (size == internal::kInfF64) ? signed_power : partial;
  const bool minus = (std::bit_cast<uint64_t>(x) >> 63) != 0;
  const double result = minus ? below : positive;
  return Select(y == 0.0, 1.0, x == 1.0 ? 1.0 : result);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_POW_F64_H_
