// Every function against the standard library in double, over a sweep of all floats (subnormals,
// infinities and NaNs among them) and at the ends of its ranges. The loops are compiled as kernels
// are, so that what is tested is the vectorised code.

#include "firn/tensor/kernels/math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/math_arc.h"
#include "firn/tensor/kernels/math_gamma.h"
#include "firn/tensor/kernels/math_log.h"
#include "firn/tensor/kernels/math_pow.h"
#include "firn/tensor/kernels/math_tail.h"
#include "firn/tensor/kernels/math_trig.h"
#include "tests/tensor/kernels/float_errors.h"

namespace firn::math {
namespace {

template <class F>
void ExpectAccurate(const char* name, double ulps, double (*exact)(double), F f) {
  const std::vector<float> x = AllKindsOfFloats();
  std::vector<float> y(x.size());
  const auto n = static_cast<int64_t>(x.size());
  const float* in = x.data();
  float* out = y.data();
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]);
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = Ulps(y[i], exact(static_cast<double>(x[i])));
    if (error > worst) {
      worst = error;
      at = i;
    }
  }
  EXPECT_LE(worst, ulps) << name << "(" << std::hexfloat << x[at] << ") = " << y[at] << ", want "
                         << exact(static_cast<double>(x[at]));
}

#define EXPECT_ACCURATE(function, ulps, exact) \
  ExpectAccurate(                              \
      #function, ulps, [](double x) { return exact; }, [](float x) { return function; })

TEST(MathTest, ExponentialsAreAccurateEverywhere) {
  EXPECT_ACCURATE(Exp(x), 1.0, std::exp(x));
  EXPECT_ACCURATE(Exp2(x), 1.0, std::exp2(x));
  EXPECT_ACCURATE(Expm1(x), 1.5, std::expm1(x));
  EXPECT_ACCURATE(Tanh(x), 1.5, std::tanh(x));
  EXPECT_ACCURATE(Sigmoid(x), 1.6, 1 / (1 + std::exp(-x)));
}

TEST(MathTest, ExpOfWeightIsAccurateWhereWeightsCount) {
  constexpr int64_t kCount = 1 << 22;
  std::vector<float> x(kCount), y(kCount);
  for (int64_t i = 0; i < kCount; ++i) x[i] = -87.0f * static_cast<float>(i) / kCount;
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < kCount; ++i) y[i] = ExpOfWeight(x[i]);
  const double slope = Merges() ? 0.5 : 1.25;
  for (int64_t i = 0; i < kCount; ++i) {
    const double v = x[i];
    ASSERT_LE(Ulps(y[i], std::exp(v)), 2.1 - slope * v) << v;
  }
  EXPECT_EQ(ExpOfWeight(0.0f), 1.0f);
  EXPECT_EQ(ExpOfWeight(-88.0f), 0.0f);
  EXPECT_EQ(ExpOfWeight(-1e30f), 0.0f);
  EXPECT_EQ(ExpOfWeight(-kInf), 0.0f);
  for (const uint32_t bits : {0x7fc00000u, 0x7fffffffu, 0xffc00001u, 0xffffffffu}) {
    EXPECT_TRUE(std::isnan(ExpOfWeight(std::bit_cast<float>(bits)))) << std::hex << bits;
  }
}

TEST(MathTest, LogarithmsAreAccurateEverywhere) {
  EXPECT_ACCURATE(Log(x), 0.9, std::log(x));
  EXPECT_ACCURATE(Log1p(x), 1.5, std::log1p(x));
  EXPECT_ACCURATE(Log1pOfFraction(x < 0 || x > 1 ? 1 : x), 1.2, std::log1p(x < 0 || x > 1 ? 1 : x));
  EXPECT_ACCURATE(Log2(x), 2.0, std::log2(x));
  EXPECT_ACCURATE(Log10(x), 2.0, std::log10(x));
}

TEST(MathTest, LogarithmsOfPowersOfTheirBaseAreWhole) {
  for (int i = -149; i < 128; ++i) EXPECT_EQ(Log2(std::ldexp(1.0f, i)), static_cast<float>(i));
  double power = 1;
  for (int i = 0; i <= 38; ++i, power *= 10) {
    EXPECT_EQ(Log10(static_cast<float>(power)), static_cast<float>(i)) << i;
  }
}

TEST(MathTest, ErrorFunctionsAreAccurateEverywhere) {
  EXPECT_ACCURATE(Erf(x), 1.6, std::erf(x));
  EXPECT_ACCURATE(Erfc(x), 1.2, std::erfc(x));
  EXPECT_ACCURATE(Gelu(x), 2.2, x * (std::erfc(-x * 0.70710678118654752440) / 2));
  EXPECT_ACCURATE(Normal(x).density, 2.2, Normal(x).density);
  EXPECT_ACCURATE(Normal(x).integral, 6.2, Normal(x).integral);
}

TEST(MathTest, GeluKeepsSigns) {
  EXPECT_TRUE(std::signbit(Gelu(-100.0f)));
  EXPECT_TRUE(std::isnan(Gelu(-kInf)));
  EXPECT_EQ(Gelu(kInf), kInf);
}

TEST(MathTest, SinesOfHugeArgumentsAreAccurateToo) {
  EXPECT_ACCURATE(Sin(x), 1.6, std::sin(x));
  EXPECT_ACCURATE(Cos(x), 1.6, std::cos(x));
  EXPECT_ACCURATE(Tan(x), 1.61, std::tan(x));
  EXPECT_ACCURATE(Sinc(x), 2.5, Sinc(x));
}

// The same bits with and without the table, below the bound where loops do without.
TEST(MathTest, SinesOfFewTurnsAreThoseOfTheTable) {
  for (float x : AllKindsOfFloats()) {
    if (internal::HasManyTurns(x) || std::isnan(x)) continue;
    ASSERT_EQ(internal::SinOfFewTurns(x), Sin(x)) << x;
    ASSERT_EQ(internal::CosOfFewTurns(x), Cos(x)) << x;
    ASSERT_EQ(internal::TanOfFewTurns(x), Tan(x)) << x;
  }
  EXPECT_TRUE(internal::HasManyTurns(0x1p25f));
  EXPECT_TRUE(internal::HasManyTurns(-kInf));
  EXPECT_TRUE(std::isnan(internal::SinOfFewTurns(kNan)));
}

TEST(MathTest, InverseTrigonometricFunctionsAreAccurateEverywhere) {
  EXPECT_ACCURATE(Asin(x), 1.8, std::asin(x));
  EXPECT_ACCURATE(Acos(x), 1.2, std::acos(x));
  EXPECT_ACCURATE(Atan(x), 1.5, std::atan(x));
}

TEST(MathTest, HyperbolicFunctionsAreAccurateEverywhere) {
  EXPECT_ACCURATE(Sinh(x), 1.7, std::sinh(x));
  EXPECT_ACCURATE(Cosh(x), 1.5, std::cosh(x));
  EXPECT_ACCURATE(Asinh(x), 0.52, std::asinh(x));
  EXPECT_ACCURATE(Acosh(x), 0.52, std::acosh(x));
  EXPECT_ACCURATE(Atanh(x), 1.9, std::atanh(x));
}

TEST(MathTest, SpecialValuesAreThoseOfTheStandardLibrary) {
  EXPECT_EQ(Exp(-kInf), 0.0f);
  EXPECT_EQ(Exp(kInf), kInf);
  EXPECT_EQ(Exp(0.0f), 1.0f);
  EXPECT_EQ(Expm1(-kInf), -1.0f);
  EXPECT_EQ(Log(0.0f), -kInf);
  EXPECT_EQ(Log(-0.0f), -kInf);
  EXPECT_EQ(Log(1.0f), 0.0f);
  EXPECT_TRUE(std::isnan(Log(-1.0f)));
  EXPECT_TRUE(std::isnan(Log(-kInf)));
  EXPECT_EQ(Log1p(-1.0f), -kInf);
  EXPECT_EQ(Tanh(10.0f), 1.0f);
  EXPECT_EQ(Tanh(-kInf), -1.0f);
  EXPECT_EQ(Sigmoid(-kInf), 0.0f);
  EXPECT_EQ(Sigmoid(kInf), 1.0f);
  EXPECT_EQ(Erf(kInf), 1.0f);
  EXPECT_EQ(Erfc(-kInf), 2.0f);
  EXPECT_TRUE(std::isnan(Sin(kInf)));
  for (float (*odd)(float) : {+[](float x) { return Tanh(x); }, +[](float x) { return Erf(x); },
                              +[](float x) { return Sin(x); }, +[](float x) { return Expm1(x); },
                              +[](float x) { return Log1p(x); }, +[](float x) { return Tan(x); },
                              +[](float x) { return Asin(x); }, +[](float x) { return Atan(x); },
                              +[](float x) { return Sinh(x); }, +[](float x) { return Asinh(x); },
                              +[](float x) { return Atanh(x); }}) {
    EXPECT_TRUE(std::signbit(odd(-0.0f)));
    EXPECT_FALSE(std::signbit(odd(0.0f)));
  }
}

TEST(MathTest, AnglesAreAccurateInEveryQuadrant) {
  std::vector<float> values = {0.0f, -0.0f, kInf, -kInf, kNan, 1.0f, -1.0f, 1e-45f, 3e38f, -3e38f};
  for (int i = -60; i <= 60; ++i) values.push_back(0.37f * static_cast<float>(i));
  for (float y : values) {
    for (float x : values) {
      const double want = std::atan2(static_cast<double>(y), static_cast<double>(x));
      EXPECT_LE(Ulps(Atan2(y, x), want), 1.5) << y << ", " << x;
      if (want != 0) continue;
      EXPECT_EQ(std::signbit(Atan2(y, x)), std::signbit(want)) << y << ", " << x;
    }
  }
}

// Off by at most `ulps` of the larger of the value and 1, in double.
void ExpectGamma(double got, double want, double ulps) {
  EXPECT_NEAR(got, want, ulps * 0x1p-53 * std::max(1.0, std::abs(want)));
}

TEST(MathTest, LogarithmsOfGammaAgreeWithTheStandardLibrary) {
  std::vector<double> values = {1e-300, 1e-20, 0.5, 1, 1.5, 2, 2.5, 10, 1e10, 1e300, -1e-20, -0.5};
  for (int i = -2000; i <= 4000; ++i) values.push_back(0.003 + 0.0101 * i);
  for (double x : values) {
    ExpectGamma(Lgamma(x), std::lgamma(x), 16);
    const auto single = static_cast<float>(x);
    EXPECT_EQ(Lgamma(single), static_cast<float>(Lgamma(static_cast<double>(single))));
  }
  for (double near : {1.0, 2.0}) {  // relative to the value, which is small
    for (double z : {1e-3, -1e-3, 1e-9, -1e-9}) {
      EXPECT_NEAR(Lgamma(near + z) / std::lgamma(near + z), 1, 1e-15) << near << " + " << z;
    }
  }
  EXPECT_EQ(Lgamma(1.0), 0);
  EXPECT_EQ(Lgamma(2.0), 0);
  for (double pole : {0.0, -0.0, -1.0, -100.0, -1e300, double{kInf}, double{-kInf}}) {
    EXPECT_EQ(Lgamma(pole), double{kInf}) << pole;
  }
  EXPECT_TRUE(std::isnan(Lgamma(double{kNan})));
}

// psi(1) = -gamma, psi(1/2) = -gamma - 2 log 2, psi'(1) = pi^2 / 6, psi'(1/2) = pi^2 / 2; and what
// follows from them by psi(x + 1) = psi(x) + 1 / x and by reflection.
TEST(MathTest, DerivativesOfLogarithmsOfGammaObeyTheirEquations) {
  constexpr double kEuler = 0.577215664901532861, kPi = 3.14159265358979324;
  ExpectGamma(Digamma(1.0), -kEuler, 8);
  ExpectGamma(Digamma(0.5), -kEuler - 2 * std::log(2.0), 8);
  ExpectGamma(Digamma(10.0), 2.25175258906672111, 8);
  ExpectGamma(Trigamma(1.0), kPi * kPi / 6, 8);
  ExpectGamma(Trigamma(0.5), kPi * kPi / 2, 8);
  for (double x : {0.1, 0.75, 3.3, 9.5, 9.99, 40.7, 1e6}) {
    ExpectGamma(Digamma(x + 1) - Digamma(x), 1 / x, 32);
    ExpectGamma(Trigamma(x) - Trigamma(x + 1), 1 / (x * x), 32);
    if (x > 10) continue;
    ExpectGamma(Digamma(1 - x) - Digamma(x), kPi / std::tan(kPi * x), 256);
    const double sine = std::sin(kPi * x);
    ExpectGamma((Trigamma(1 - x) + Trigamma(x)) * sine * sine, kPi * kPi, 256);
  }
  EXPECT_EQ(Digamma(0.0), double{-kInf});
  EXPECT_EQ(Digamma(-0.0), double{kInf});
  EXPECT_TRUE(std::isnan(Digamma(-3.0)));
  EXPECT_TRUE(std::isnan(Digamma(double{-kInf})));
  EXPECT_EQ(Digamma(double{kInf}), double{kInf});
  EXPECT_EQ(Trigamma(0.0), double{kInf});
  EXPECT_EQ(Trigamma(-2.0), double{kInf});
  EXPECT_EQ(Trigamma(double{kInf}), 0);
}

// The largest error in ulps over x[i]^y[i], zeros compared with their signs.
double WorstPower(const std::vector<float>& x, const std::vector<float>& y) {
  std::vector<float> z(x.size());
  const auto n = static_cast<int64_t>(x.size());
  const float *a = x.data(), *b = y.data();
  float* c = z.data();
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) c[i] = Pow(a[i], b[i]);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = std::pow(static_cast<double>(a[i]), static_cast<double>(b[i]));
    double error = Ulps(c[i], want);
    if (want == 0 && std::signbit(want) != std::signbit(c[i])) error = 1e30;
    EXPECT_LE(error, 0.51) << std::hexfloat << a[i] << " ^ " << b[i] << " = " << c[i];
    worst = std::max(worst, error);
  }
  return worst;
}

TEST(MathTest, RemaindersAreThoseOfTheStandardLibrary) {
  std::vector<float> values = AllKindsOfFloats();
  std::mt19937 random(1);
  const auto any = [&] { return values[random() % values.size()]; };
  const auto expect = [](float x, float y) {
    const float want = std::fmod(x, y), got = Fmod(x, y);
    ASSERT_TRUE(std::isnan(want) ? std::isnan(got)
                                 : std::bit_cast<uint32_t>(want) == std::bit_cast<uint32_t>(got))
        << x << " % " << y << ": " << got << ", want " << want;
  };
  for (int i = 0; i < 200000; ++i) {
    const float y = any(), steps = static_cast<float>(random() % 4096);
    expect(any(), y);
    // Around whole multiples, where the quotient may be rounded up to one.
    const float x = y * steps;
    for (const float near : {x, std::nextafter(x, 0.0f), std::nextafter(x, kInf * x)})
      expect(near, y);
    // Quotients around the largest that is divided at once.
    expect(y * 0x1p52f, y);
    expect(std::nextafter(y * 0x1p52f, 0.0f), std::nextafter(y, kInf));
  }
  for (const float x : {0.0f, -0.0f, 1.0f, -6.0f, kInf, -kInf, kNan, 0x1p-149f}) {
    for (const float y : {0.0f, -0.0f, 3.0f, -3.0f, kInf, -kInf, kNan, 0x1p-149f}) expect(x, y);
  }
}

TEST(MathTest, PowersOfSpecialValuesAreThoseOfTheStandardLibrary) {
  const float values[] = {0.0f,  -0.0f, 1.0f,   -1.0f,  kInf,        -kInf,       kNan,
                          0.5f,  -0.5f, 2.0f,   -2.0f,  3.0f,        -3.0f,       1e-40f,
                          -7.0f, 1e30f, -1e30f, 3e38f,  16777215.0f, 33554432.0f, 0.99999994f,
                          2.5f,  -2.5f, 1e-38f, 150.0f, -150.0f,     1.0000001f};
  std::vector<float> x, y;
  for (float a : values) {
    for (float b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  EXPECT_LE(WorstPower(x, y), 0.51);
}

TEST(MathTest, PowersAreAccurate) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> base(-20, 20), exponent(-30, 30), near(-1e-3f, 1e-3f);
  std::vector<float> x, y;
  for (int i = 0; i < 100000; ++i) {
    x.push_back(std::exp2(base(random)));
    y.push_back(exponent(random));
    x.push_back(1 + near(random));  // large powers of numbers near 1
    y.push_back(exponent(random) * 1000);
    x.push_back(std::round(base(random)));
    y.push_back(std::round(exponent(random)));
  }
  EXPECT_LE(WorstPower(x, y), 0.51);
}

TEST(MathTest, PowersOfIntegersWrapAndNegativePowersVanish) {
  EXPECT_EQ(Pow(3, 4), 81);
  EXPECT_EQ(Pow(int8_t{-2}, int8_t{7}), -128);
  EXPECT_EQ(Pow(uint8_t{2}, uint8_t{8}), 0);
  EXPECT_EQ(Pow(0, 0), 1);
  EXPECT_EQ(Pow(2, -1), 0);
  EXPECT_EQ(Pow(-1, -3), -1);
  EXPECT_EQ(Pow(int64_t{-1}, int64_t{-4}), 1);
  EXPECT_EQ(Pow(int64_t{10}, int64_t{18}), 1000000000000000000);
}

}  // namespace
}  // namespace firn::math
