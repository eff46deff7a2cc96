#ifndef FIRN_TENSOR_KERNELS_MATH_LOG_F64_H_
#define FIRN_TENSOR_KERNELS_MATH_LOG_F64_H_

// Logarithms of doubles in straight-line code, right to one unit of the last place. With m the
// argument without its power of two, f = m - 1 and s = f / (2 + f), log(m) is 2 artanh(s), whose
// leading terms f - f^2 / 2 are kept apart so that their roundings do not matter (the form of Sun's
// fdlibm, 1993).

#include "firn/tensor/kernels/math_exp_f64.h"

namespace firn::math {
namespace internal {

// x = m * 2^k with m in [sqrt(1/2), sqrt(2)). Requires: x is positive, finite and normal.
struct LogReductionF64 {
  double m, k;
  uint64_t biased;  // k + 1024
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE LogReductionF64 ReduceLog(double x) {
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd, kMantissa = 0xfffffffffffff;
  const uint64_t bits = std::bit_cast<uint64_t>(x) - kSqrtHalf;
  const double m = std::bit_cast<double>((bits & kMantissa) + kSqrtHalf);
  // Biased, so that an unsigned number is shifted, for which more machines have an instruction.
  const uint64_t k = (bits + (uint64_t{1024} << 52)) >> 52;
  const double whole = std::bit_cast<double>(k | std::bit_cast<uint64_t>(kShiftF64));
  return {m, whole - (kShiftF64 + 1024.0), k};
}

// A positive number scaled to a normal one; its exponent is then `down` too large.
struct NormalF64 {
  double x, down;
};
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE NormalF64 MakeNormal(double x) {
  const bool subnormal = x < 0x1p-1022;
  return {subnormal ? x * 0x1p54 : x, subnormal ? 54.0 : 0.0};
}

// log(1 + f) / s - 2 for s = f / (2 + f) and z = s^2, to 2^-58.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double LogSeries(double z) {
  return z * Polynomial(z, 6.666666666666735130e-01, 3.999999999940941908e-01,
                        2.857142874366239149e-01, 2.222219843214978396e-01,
                        1.818357216161805012e-01, 1.531383769920937332e-01,
                        1.479819860511658591e-01);
}

// log(1 + f) + k ln 2 + rest for 1 + f in [sqrt(1/2), sqrt(2)] and a small rest.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double LogOfReduced(double f, double k, double rest) {
  const double s = f / (2.0 + f), series = LogSeries(s * s);
  const double half = 0.5 * f * f;
  return k * kLn2High - ((half - (s * (half + series) + (k * kLn2Low + rest))) - f);
}

// y; where x is infinite, NaN or not above `pole`, the value of a logarithm with its pole there.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double LogSpecial(double x, double pole, double y) {
  y = x < kInfF64 ? y : x;
  y = x < pole ? kNanF64 : y;
  return x == pole ? -kInfF64 : y;
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Log(double x) {
  const internal::NormalF64 normal = internal::MakeNormal(x);
  const internal::LogReductionF64 l = internal::ReduceLog(normal.x);
  const double y = internal::LogOfReduced(l.m - 1.0, l.k - normal.down, 0.0);
  return internal::LogSpecial(x, 0.0, y);
}

namespace internal {

// log(1 + x + low) + more ln 2, corrected for the rounding of 1 + x: the logarithm grows by the
// error over 1 + x.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Log1pOfSum(double x, double low, double more) {
  const double u = 1.0 + x;
  // The larger of the summands comes first in the exact difference.
  const double lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  const LogReductionF64 l = ReduceLog(u);
  return LogSpecial(x, -1.0, LogOfReduced(l.m - 1.0, l.k + more, (lost + low) / u));
}

}  // namespace internal

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Log1p(double x) {
  const double y = internal::Log1pOfSum(x, 0.0, 0.0);
  return Abs(x) < 0x1p-54 ? x : y;
}

// log(1 + t) for t in [0, 1]; see that of floats.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Log1pOfFraction(double t) {
  const double z = t / (2.0 + t), w = z * z;
  const double series =
      Polynomial(w, 0.6666666666666666, 0.40000000000014585, 0.2857142856710872,
                 0.22222222717431428, 0.18181789435953558, 0.15385570069992427, 0.13314144127093303,
                 0.12001073595060778, 0.08800734473072677, 0.16164054123764937);
  return t - z * (t - w * series);
}

}  // namespace firn::math

#endif  // FIRN_TENSOR_KERNELS_MATH_LOG_F64_H_
