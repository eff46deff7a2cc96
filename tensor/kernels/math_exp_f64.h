#ifndef FIRN_TENSOR_KERNELS_MATH_EXP_F64_H_
#define FIRN_TENSOR_KERNELS_MATH_EXP_F64_H_

// Exponentials and hyperbolic functions of doubles: straight-line code like that of math.h for
// floats, right to one unit of the last place. Where a rounding would count twice, its error is
// added again: a sum's rest is that of T. J. Dekker, 1971.

#include "firn/device/product_rest.h"
#include "firn/tensor/kernels/math_base.h"

namespace firn::math {
namespace internal {

inline constexpr double kInfF64 = std::numeric_limits<double>::infinity();
inline constexpr double kNanF64 = std::numeric_limits<double>::quiet_NaN();

// Adding 1.5 * 2^52 rounds a double below 2^51 to an integer, which then stands in the low bits.
inline constexpr double kShiftF64 = 0x1.8p52;

// ln 2 in two parts; a whole number below 2^20 times the first is exact.
inline constexpr double kLn2High = 6.93147180369123816490e-01;
inline constexpr double kLn2Low = 1.90821492927058770002e-10;

// 2^n for -1022 <= n <= 1023.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double PowerOf2F64(uint64_t n) {
  return std::bit_cast<double>((n + 1023u) << 52);
}

// y * 2^n for 1/2 < y < 2, rounded once also where the result is subnormal. Two factors; shifts are
// of unsigned numbers, for which more machines have an instruction.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double ScaleF64(double y, uint64_t n) {
  const uint64_t half = ((n + 4096u) >> 1) - 2048u;
  return y * PowerOf2F64(half) * PowerOf2F64(n - half);
}

// x = n ln 2 + r + rest with |r| <= ln 2 / 2 for |x| < 2000; r is NaN for NaN.
struct ExpReductionF64 {
  double r, rest;
  uint64_t n;  // modulo 2^64
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE ExpReductionF64 ReduceExp(double x) {
  const double shifted = x * 1.44269504088896341 + kShiftF64;
  const double n = shifted - kShiftF64;
  const double high = x - n * kLn2High, low = n * kLn2Low;
  const double r = high - low;
  return {r, (high - r) - low,
          std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(kShiftF64)};
}

// e^r - 1 - r for |r| <= ln 2 / 2, off by 2^-58 of e^r. Terms are taken in pairs: one after the
// other, they would wait for each other longer than they take.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double ExpTail(double r) {
  const double z = r * r;
  const double low = (0.16666666666666671 + r * 0.041666666666666616) +
                     z * (0.0083333333333261376 + r * 0.0013888888888918015);
  const double high = (0.00019841269874823275 + r * 2.4801587245705418e-05) +
                      z * ((2.7557255384497667e-06 + r * 2.755734956044821e-07) +
                           z * (2.5105227535487415e-08 + r * 2.0889425176257498e-09));
  return 0.5 * z + z * r * (low + z * z * high);
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double ExpOfReduced(const ExpReductionF64& e) {
  const double y = 1.0 + e.r;
  return y + ((e.r - (y - 1.0)) + (ExpTail(e.r) + e.rest));
}

// e^x for |x| < 1418 (infinite or 0 where it is beyond the doubles), NaN for NaN; meaningless for
// larger |x|.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double ExpInRange(double x) {
  const ExpReductionF64 e = ReduceExp(x);
  return ScaleF64(ExpOfReduced(e), e.n);
}

// 2^scale e^x as a sum of two, for 0 <= x < 711.
struct SumF64 {
  double high, low;
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE SumF64 ScaledExp(double x, int scale) {
  const ExpReductionF64 e = ReduceExp(x);
  const double s = PowerOf2F64(e.n + static_cast<uint64_t>(static_cast<int64_t>(scale)));
  const double tail = ExpTail(e.r) + e.rest, m = e.r + tail;
  const double part = s * m, high = s + part;
  return {high, (part - (high - s)) + s * ((e.r - m) + tail)};
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Exp(double x) {
  const double y = internal::ExpInRange(x);
  const double finite = x < -746.0 ? 0.0 : y;
  return x > 710.0 ? internal::kInfF64 : finite;
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Exp2(double x) {
  constexpr double kLn2 = 0.693147180559945309, kRest = 2.3190468138462996e-17;
  const double shifted = x + internal::kShiftF64, r = x - (shifted - internal::kShiftF64);
  const double product = inner::RoundedProduct(r, kLn2);
  const double rest = inner::ProductRest(r, kLn2, product) + r * kRest;
  const uint64_t n =
      std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(internal::kShiftF64);
  const double y = internal::ScaleF64(internal::ExpOfReduced({product, rest, n}), n);
  const double finite = x < -1076.0 ? 0.0 : y;
  return x >= 1024.0 ? internal::kInfF64 : finite;
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Expm1(double x) {
  const internal::ExpReductionF64 e = internal::ReduceExp(x);
  // Computes half of everything, because 2^1024 is not a double.
  const double s = internal::PowerOf2F64(e.n - 1u);
  const double a = s - 0.5, b = s * e.r;
  const double sum = a + b, part = sum - a;
  const double rest = (a - (sum - part)) + (b - part) + (s > 1.0 ? (s - a) - 0.5 : 0.0);
  double y = 2.0 * (sum + (rest + s * (internal::ExpTail(e.r) + e.rest)));
  y = Abs(x) < 0x1p-54 ? x : y;
  y = x < -40.0 ? -1.0 : y;
  return x > 710.0 ? internal::kInfF64 : y;
}

// 1 - 2 / (e^2|x| + 1), and an odd polynomial where that is below 1/2. Exactly +-1 from 20 on.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Tanh(double x) {
  const double size = Abs(x), z = x * x;
  const double near =
      size + size * z *
                 Polynomial(z, -0.33333333333333331, 0.13333333333332714, -0.053968253967431941,
                            0.021869488493570784, -0.0088632343955653559, 0.003592110348680201,
                            -0.0014556615877486091, 0.00058893484669577236, -0.0002346311343125455,
                            8.5107184215323114e-05, -2.0598604083800856e-05);
  const internal::SumF64 e = internal::ScaledExp(2.0 * size, 0);
  const double sum = e.high + 1.0;
  const double rest = (1.0 - (sum - e.high)) + e.low;
  const double q = 2.0 / sum;
  const double y = 1.0 - q;
  const double far = size > 20.0 ? 1.0 : y + (((1.0 - y) - q) + 0.5 * q * q * rest);
  return WithSign(size < 0.55 ? near : far, x);
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Sinh(double x) {
  const double size = Abs(x), z = x * x;
  const double near =
      x + x * z *
              Polynomial(z, 0.16666666666666666, 0.0083333333333333003, 0.00019841269841323517,
                         2.7557319191673089e-06, 2.5052117639661983e-08, 1.6057684627662264e-10,
                         7.7460117001713984e-13);
  const internal::SumF64 e = internal::ScaledExp(size, -2);  // a quarter, which stays finite longer
  const double y = 2.0 * (e.high + (e.low - 0.0625 / e.high));
  const double far = WithSign(size > 710.5 ? internal::kInfF64 : y, x);
  return size < 1.0 ? near : far;
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Cosh(double x) {
  const double size = Abs(x);
  const internal::SumF64 e = internal::ScaledExp(size, -2);
  const double y = 2.0 * (e.high + (e.low + 0.0625 / e.high));
  return size > 710.5 ? internal::kInfF64 : y;
}

// s = 1 / (1 + e^|x|), or 1 - s where x is positive. The sum consists of two doubles, and a step of
// Newton's method corrects its inverse. Everything is first scaled by 2^-128, so that the sum stays
// in the range and a subnormal result is rounded once.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Sigmoid(double x) {
  constexpr double kScale = 0x1p-128;
  const double size = Abs(x), in_range = size > 746.0 ? 746.0 : size;
  const double shifted = in_range * 1.44269504088896341 + internal::kShiftF64;
  const double n = shifted - internal::kShiftF64;
  const double r = (in_range - n * internal::kLn2High) - n * internal::kLn2Low;
  const double power =
      std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + (1023u - 128u)) << 52);
  const double one = power + kScale, part = power * r, sum = one + part;
  const double low = ((one - sum) + part) + (kScale - (one - power));
  const double rest = low + power * internal::ExpTail(r);
  const double all = sum + rest, all_rest = (sum - all) + rest;
  const double over = 1.0 / all, back = inner::RoundedProduct(over, all);
  const double left = ((1.0 - back) - inner::ProductRest(over, all, back)) - over * all_rest;
  const double y = (over + left * over) * kScale;
  return x < 0.0 ? y : 1.0 - y;
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_EXP_F64_H_
