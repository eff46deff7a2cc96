// The functions of half types for all their numbers, and many more, against the standard library in
// double: off by at most 2^-16, so that a 32nd of f16's unit is left for the rounding.

#include "firn/tensor/kernels/math_half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace firn::math {
namespace {

// Whether `got` is `want` to 2^-16, or to the smallest subnormal number.
bool IsNear(float got, double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got);
  const double size = std::abs(want);
  // Beyond the floats both types have infinities.
  if (size > 3.4027e38)
    return std::abs(got) > 3.4026e38f && std::signbit(got) == std::signbit(want);
  if (size == 0 && got == 0) return std::signbit(got) == std::signbit(want);
  return std::abs(got - want) <= std::max(0x1p-16 * size, 0x1p-149);
}

// The float that a functor's `f(x)` of half types is.
#define EXPECT_NEAR_EVERYWHERE(f, exact)                                                          \
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 1u << 13) {                         \
    const Rough x(std::bit_cast<float>(static_cast<uint32_t>(bits)));                             \
    const double y = x.v;                                                                         \
    ASSERT_TRUE(IsNear((f).v, exact)) << #f " of " << y << ": " << (f).v << ", want " << (exact); \
  }

TEST(MathHalfTest, ExponentialsAreNear) {
  EXPECT_NEAR_EVERYWHERE(Exp(x), std::exp(y));
  EXPECT_NEAR_EVERYWHERE(Exp2(x), std::exp2(y));
  EXPECT_NEAR_EVERYWHERE(Expm1(x), std::expm1(y));
  EXPECT_NEAR_EVERYWHERE(Tanh(x), std::tanh(y));
  EXPECT_NEAR_EVERYWHERE(Sigmoid(x), 1 / (1 + std::exp(-y)));
}

TEST(MathHalfTest, HyperbolicFunctionsAndTheArcTangentAreNear) {
  EXPECT_NEAR_EVERYWHERE(Sinh(x), std::sinh(y));
  EXPECT_NEAR_EVERYWHERE(Cosh(x), std::cosh(y));
  EXPECT_NEAR_EVERYWHERE(Atan(x), std::atan(y));
}

TEST(MathHalfTest, ArcSinesAndCosinesAreNear) {
  EXPECT_NEAR_EVERYWHERE(Asin(x), std::asin(y));
  EXPECT_NEAR_EVERYWHERE(Acos(x), std::acos(y));
  EXPECT_EQ(Acos(Rough(1.0f)).v, 0.0f);
}

TEST(MathHalfTest, LogarithmsAreNear) {
  EXPECT_NEAR_EVERYWHERE(Log(x), std::log(y));
  EXPECT_NEAR_EVERYWHERE(Log2(x), std::log2(y));
  EXPECT_NEAR_EVERYWHERE(Log10(x), std::log10(y));
  EXPECT_NEAR_EVERYWHERE(Log1p(x), std::log1p(y));
  EXPECT_NEAR_EVERYWHERE(Log1pOfFraction(Rough(x.v < 0 || x.v > 1 ? 1 : x.v)),
                         std::log1p(y < 0 || y > 1 ? 1 : y));
  // Logarithms of powers of two are exact.
  EXPECT_EQ(Log2(Rough(0x1p-24f)).v, -24.0f);
  EXPECT_EQ(Log2(Rough(1024.0f)).v, 10.0f);
}

TEST(MathHalfTest, ErrorFunctionsAreNear) {
  EXPECT_NEAR_EVERYWHERE(Erf(x), std::erf(y));
  EXPECT_NEAR_EVERYWHERE(Gelu(x), y * (std::erfc(y * -0.70710678118654752440) / 2));
  EXPECT_NEAR_EVERYWHERE(Normal(x).density, std::exp(-y * y / 2) * 0.39894228040143267794);
  EXPECT_NEAR_EVERYWHERE(Normal(x).integral, std::erfc(y * -0.70710678118654752440) / 2);
}

struct SlopeFn {
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? math::Exp(x) : T(1);
  }
};

TEST(MathHalfTest, FunctorsOfHalfTypesAreCalledWithRough) {
  EXPECT_EQ(RoughFn<SlopeFn>()(2.0f), 1.0f);
  EXPECT_EQ(RoughFn<SlopeFn>()(-2.0f), Exp(Rough(-2.0f)).v);
}

}  // namespace
}  // namespace firn::math
