#ifndef FIRN_TENSOR_KERNELS_MATH_DOUBLE_H_
#define FIRN_TENSOR_KERNELS_MATH_DOUBLE_H_

// Logarithm and exponential in double, to about 2^-34 and in straight-line code as in math.h.
// Functions of floats that are made of them are off by 0.51 units of the last place.

#include "firn/tensor/kernels/math.h"

namespace firn::math::internal {

// log2(x), its error relative to the result. Requires: x is positive, normal and finite.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Log2OfNormal(double x) {
  constexpr int64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  constexpr int64_t kShift52 = 0x4338000000000000;  // the bits of 1.5 * 2^52
  const int64_t bits = std::bit_cast<int64_t>(x) - kSqrtHalf;
  const double m = std::bit_cast<double>((bits & 0xfffffffffffff) + kSqrtHalf);
  // Biased, so that an unsigned number is shifted, for which more machines have an instruction.
  const auto k = static_cast<int64_t>(static_cast<uint64_t>(bits + (int64_t{1024} << 52)) >> 52);
  const double exponent = std::bit_cast<double>(k + kShift52) - (0x1.8p52 + 1024);
  const double s = (m - 1.0) / (m + 1.0);
  return exponent + s * Polynomial(s * s, 2.8853900817778491, 0.96179669411521962,
                                   0.57707794177107719, 0.41220931681787343, 0.31990288600002653,
                                   0.28294255237971527);
}

// log2(x) for positive x; -inf for 0, inf for inf. Even subnormal floats are normal as doubles.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE double Log2InDouble(float x) {
  const double y = Log2OfNormal(static_cast<double>(x));
  const double finite = x == 0.0f ? -std::numeric_limits<double>::infinity() : y;
  return x < kInf ? finite : static_cast<double>(x);
}

// 2^x.
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float Exp2InDouble(double x) {
  const double shifted = x + 0x1.8p52;
  const double r = x - (shifted - 0x1.8p52);
  const double p = Polynomial(r, 0.99999999996161215, 0.69314718072860104, 0.24022651198808506,
                              0.055504103531116546, 0.0096180271673298717, 0.001333392266693399,
                              0.00015469318718002917, 1.5201939479003599e-05);
  // Adds n to the exponent of p, which stays within its range for |x| < 1000.
  const float y = static_cast<float>(
      std::bit_cast<double>(std::bit_cast<uint64_t>(p) + (std::bit_cast<uint64_t>(shifted) << 52)));
  const float low = x < -200.0 ? 0.0f : y;
  return x > 200.0 ? kInf : low;
}

}  // namespace firn::math::internal

#endif  // FIRN_TENSOR_KERNELS_MATH_DOUBLE_H_
