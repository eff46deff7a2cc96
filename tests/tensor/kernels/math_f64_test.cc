// The functions of doubles against the standard library's of long double, which has 11 digits more:
// over doubles of all kinds, densely where the functions bend, and around the ends of their ranges.
// The loops are compiled as kernels are, so that what is tested is the vectorised code.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "firn/device/macros.h"
#include "firn/device/product_rest.h"
#include "firn/tensor/kernels/math.h"
#include "firn/tensor/kernels/math_arc.h"
#include "firn/tensor/kernels/math_log.h"
#include "firn/tensor/kernels/math_pow.h"
#include "firn/tensor/kernels/math_tail.h"
#include "firn/tensor/kernels/math_trig.h"
#include "tests/tensor/kernels/float_errors.h"

namespace firn::math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kSubnormal = std::numeric_limits<double>::denorm_min();

// |got - want| in units of the last place of the double nearest to `want`; zeros with their signs.
double Ulps(double got, long double want) {
  const auto nearest = static_cast<double>(want);
  if (std::isnan(nearest) || std::isnan(got)) {
    return std::isnan(nearest) == std::isnan(got) ? 0 : 1e30;
  }
  if (want == 0) return got == 0 && std::signbit(got) == std::signbit(nearest) ? 0 : 1e30;
  if (std::isinf(nearest) || std::isinf(got)) {
    if (nearest == got) return 0;
    return std::abs(std::isinf(got) ? nearest : got) > 1.7976931e308 ? 1 : 1e30;
  }
  int exponent;
  std::frexp(want, &exponent);
  return static_cast<double>(std::abs(got - want) /
                             std::ldexp(1.0L, std::max(exponent, -1021) - 53));
}

// Doubles of all kinds and many in [low, high).
std::vector<double> Arguments(double low, double high) {
  std::vector<double> x;
  for (double special : {0.0,
                         -0.0,
                         1.0,
                         -1.0,
                         kInfinity,
                         -kInfinity,
                         kNotANumber,
                         kSubnormal,
                         -kSubnormal,
                         0x1p-1022,
                         1e-310,
                         -1e-310,
                         0x1.fffffffffffffp1023,
                         -0x1.fffffffffffffp1023,
                         0.5,
                         0.55,
                         0.67,
                         0.47,
                         1.2,
                         6.0,
                         20.0,
                         -40.0,
                         709.78,
                         710.0,
                         710.47,
                         711.0,
                         -708.4,
                         -745.1,
                         -745.2,
                         -746.0,
                         0x1p-54,
                         0x1p-53,
                         1.41421356,
                         0.70710678,
                         26.5,
                         27.2,
                         -37.5,
                         39.0}) {
    double up = special, down = special;
    for (int i = 0; i < 50; ++i) {
      x.push_back(i == 0 ? special : up = std::nextafter(up, kInfinity));
      x.push_back(down = std::nextafter(down, -kInfinity));
    }
  }
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> dense(low, high), magnitude(-60, 10);
  for (int i = 0; i < 60000; ++i) {
    x.push_back(std::bit_cast<double>(static_cast<uint64_t>(random())));
    x.push_back(std::exp2(magnitude(random)) * (i % 2 == 0 ? 1 : -1));
    for (int j = 0; j < 3; ++j) x.push_back(dense(random));
  }
  return x;
}

template <class F>
void ExpectAccurate(const char* name, double ulps, const std::vector<double>& x,
                    long double (*exact)(long double), F f) {
  std::vector<double> y(x.size());
  const auto n = static_cast<int64_t>(x.size());
  const double* in = x.data();
  double* out = y.data();
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]);
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = Ulps(y[i], exact(x[i]));
    if (error > worst) {
      worst = error;
      at = i;
    }
  }
  EXPECT_LE(worst, ulps) << name << "(" << std::hexfloat << x[at] << ") = " << y[at] << ", want "
                         << static_cast<double>(exact(x[at]));
}

#define EXPECT_ACCURATE(function, ulps, low, high, exact)                                        \
  ExpectAccurate(                                                                                \
      #function, ulps, Arguments(low, high), [](long double x) -> long double { return exact; }, \
      [](double x) { return function; })

// For large x the rounding of erfc's argument counts.
long double NormalIntegral(long double x) {
  constexpr long double kHigh = 0x0.b504f333f9de6484p0L, kLow = 0x0.b2fb1366ea957d3ep-65L;
  const long double z = -x * kHigh, lost = std::fma(-x, kHigh, -z) - x * kLow;
  const long double y = std::erfc(z) / 2;
  return z > 1 && z < 100 ? y * (1 - 2 * z * lost) : y;
}

TEST(MathF64Test, ExponentialsAreAccurateEverywhere) {
  EXPECT_ACCURATE(Exp(x), 1.0, -750, 712, std::exp(x));
  EXPECT_ACCURATE(Exp2(x), 1.0, -1080, 1026, std::exp2(x));
  EXPECT_ACCURATE(Expm1(x), 1.0, -3, 3, std::expm1(x));
  EXPECT_ACCURATE(Tanh(x), 1.0, -3, 3, std::tanh(x));
  EXPECT_ACCURATE(Sigmoid(x), 1.0, -40, 40, 1 / (1 + std::exp(-x)));
  EXPECT_ACCURATE(Sinh(x), 1.0, -5, 5, std::sinh(x));
  EXPECT_ACCURATE(Cosh(x), 1.0, -5, 5, std::cosh(x));
}

TEST(MathF64Test, LogarithmsAreAccurateEverywhere) {
  EXPECT_ACCURATE(Log(x), 1.0, 0.5, 2, std::log(x));
  EXPECT_ACCURATE(Log1p(x), 1.0, -0.9, 3, std::log1p(x));
  EXPECT_ACCURATE(Log1pOfFraction(x < 0 || x > 1 ? 1 : x), Merges() ? 1.1 : 1.3, 0, 1,
                  std::log1p(x < 0 || x > 1 ? 1 : x));
  EXPECT_ACCURATE(Log2(x), 0.6, 0.5, 2, std::log2(x));
  EXPECT_ACCURATE(Log10(x), 0.6, 0.5, 2, std::log10(x));
}

TEST(MathF64Test, ErrorFunctionsAreAccurateEverywhere) {
  EXPECT_ACCURATE(Erf(x), Merges() ? 1.0 : 1.2, -3, 3, std::erf(x));
  EXPECT_ACCURATE(Erfc(x), 1.3, -6, 27, std::erfc(x));
  EXPECT_ACCURATE(Gelu(x), Merges() ? 2.7 : 3.0, -38, 3, x * NormalIntegral(x));
  EXPECT_ACCURATE(Normal(x).integral, 6.0, -38, 3, NormalIntegral(x));
  EXPECT_ACCURATE(Normal(x).density, 2.2, -38, 3,
                  0.3989422804014326779399460599L * std::exp(-x * x / 2));
}

TEST(MathF64Test, SinesAreAccurateEverywhere) {
  EXPECT_ACCURATE(Sin(x), 1.0, -10, 10, std::isinf(x) ? kNan : std::sin(x));
  EXPECT_ACCURATE(Cos(x), 1.0, -10, 10, std::isinf(x) ? kNan : std::cos(x));
  EXPECT_ACCURATE(Tan(x), 1.0, -10, 10, std::isinf(x) ? kNan : std::tan(x));
}

TEST(MathF64Test, InverseFunctionsAreAccurateEverywhere) {
  EXPECT_ACCURATE(Asin(x), 1.0, -1, 1, std::asin(x));
  EXPECT_ACCURATE(Acos(x), 1.0, -1, 1, std::acos(x));
  EXPECT_ACCURATE(Atan(x), 0.8, -3, 3, std::atan(x));
  EXPECT_ACCURATE(Atan2(x, 0.7), 0.8, -3, 3, std::atan2(x, static_cast<long double>(0.7)));
  EXPECT_ACCURATE(Atan2(x, -0.7), 0.8, -3, 3, std::atan2(x, static_cast<long double>(-0.7)));
  EXPECT_ACCURATE(Atan2(1e-300, x), 0.8, -3, 3, std::atan2(static_cast<long double>(1e-300), x));
  EXPECT_ACCURATE(Asinh(x), 1.0, -3, 3, std::asinh(x));
  EXPECT_ACCURATE(Acosh(x), 1.0, 1, 3, std::acosh(x));
  EXPECT_ACCURATE(Atanh(x), 1.0, -1, 1, std::atanh(x));
}

TEST(MathF64Test, AnglesOfSpecialPointsAreThoseOfTheStandardLibrary) {
  const double values[] = {0.0,        -0.0,        1.0,        -1.0,        kInfinity,
                           -kInfinity, kNotANumber, kSubnormal, -kSubnormal, 3 * kSubnormal,
                           1e308,      -1e308,      2.5,        -0.3};
  for (double y : values) {
    for (double x : values) {
      const long double want = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
      EXPECT_LE(Ulps(Atan2(y, x), want), 0.8) << y << ", " << x;
    }
  }
}

// Numbers whose products have no remainder in double, or not all of it.
TEST(MathF64Test, AnglesOfPointsCloseToTheOriginKeepTheirDigits) {
  for (int low = -1074; low < -940; ++low) {
    for (int above = 0; above < 700; above += 3) {
      const double y = std::ldexp(1.8764, low), x = std::ldexp(1.3372, low + above);
      const long double want = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
      ASSERT_LE(Ulps(Atan2(y, x), want), 0.8) << y << ", " << x;
    }
  }
}

TEST(MathF64Test, RemaindersAreThoseOfTheStandardLibrary) {
  std::mt19937_64 random(1);
  const std::vector<double> values = Arguments(-10, 10);
  const auto any = [&] { return values[random() % values.size()]; };
  const auto expect = [](double x, double y) {
    const double want = std::fmod(x, y), got = Fmod(x, y);
    ASSERT_TRUE(std::isnan(want) ? std::isnan(got)
                                 : std::bit_cast<uint64_t>(want) == std::bit_cast<uint64_t>(got))
        << std::hexfloat << x << " % " << y << ": " << got << ", want " << want;
  };
  for (int i = 0; i < 100000; ++i) {
    const double y = any(), steps = static_cast<double>(random() % 4096);
    expect(any(), y);
    // Around whole multiples, where the quotient may be rounded up to one.
    const double x = y * steps;
    for (double near : {x, std::nextafter(x, 0.0), std::nextafter(x, kInfinity * x)})
      expect(near, y);
    // Quotients around the largest that is divided at once.
    expect(y * 0x1p52, y);
    expect(std::nextafter(y * 0x1p52, 0.0), std::nextafter(y, kInfinity));
  }
}

// The doubles next to multiples of a quarter turn, where all digits of the reduction cancel.
TEST(MathF64Test, SinesOfTheNeighboursOfQuarterTurnsAreAccurate) {
  std::vector<double> x;
  for (int64_t n = 1; n < 630000; n += n < 2000 ? 1 : 97) {
    const auto quarter = static_cast<double>(1.57079632679489661923L * static_cast<long double>(n));
    for (double v : {quarter, std::nextafter(quarter, kInfinity), std::nextafter(quarter, 0.0)}) {
      x.push_back(v);
      x.push_back(-v);
    }
  }
  ExpectAccurate("sin", 1.0, x, std::sin, [](double v) { return internal::SinOfFewTurns(v); });
  ExpectAccurate("cos", 1.0, x, std::cos, [](double v) { return internal::CosOfFewTurns(v); });
  ExpectAccurate("tan", 1.0, x, std::tan, [](double v) { return internal::TanOfFewTurns(v); });
}

TEST(MathF64Test, ManyTurnsAreThoseBeyondTheReduction) {
  EXPECT_FALSE(internal::HasManyTurns(internal::kFewTurns));
  EXPECT_FALSE(internal::HasManyTurns(kNotANumber));
  EXPECT_TRUE(internal::HasManyTurns(-kInfinity));
  EXPECT_TRUE(internal::HasManyTurns(2 * internal::kFewTurns));
}

void ExpectPowers(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> z(x.size());
  const auto n = static_cast<int64_t>(x.size());
  const double *a = x.data(), *b = y.data();
  double* c = z.data();
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) c[i] = Pow(a[i], b[i]);
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error =
        Ulps(c[i], std::pow(static_cast<long double>(a[i]), static_cast<long double>(b[i])));
    if (error > worst) {
      worst = error;
      at = i;
    }
  }
  EXPECT_LE(worst, 1.0) << std::hexfloat << x[at] << " ^ " << y[at] << " = " << z[at];
}

TEST(MathF64Test, PowersOfSpecialValuesAreThoseOfTheStandardLibrary) {
  const double values[] = {0.0,  -0.0,  1.0,    -1.0,   kInfinity,  -kInfinity,    kNotANumber,
                           0.5,  -0.5,  2.0,    -2.0,   3.0,        -3.0,          kSubnormal,
                           -7.0, 1e300, -1e300, 1e-320, 0x1p53 - 1, 0x1p54,        -0x1p53 + 1,
                           2.5,  -2.5,  1e-300, 150.0,  -1075.0,    1.0 + 0x1p-52, 1.0 - 0x1p-53};
  std::vector<double> x, y;
  for (double a : values) {
    for (double b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  ExpectPowers(x, y);
}

TEST(MathF64Test, PowersAreAccurate) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> base(-20, 20), exponent(-30, 30), near(-1e-3, 1e-3);
  std::vector<double> x, y;
  for (int i = 0; i < 100000; ++i) {
    x.push_back(std::exp2(base(random)));
    y.push_back(exponent(random));
    x.push_back(1 + near(random));  // large powers of numbers near 1
    y.push_back(exponent(random) * 10000);
    x.push_back(std::round(base(random)));
    y.push_back(std::round(exponent(random)));
  }
  ExpectPowers(x, y);
}

// An exponent that a loop does not change, as powers by a number have it.
TEST(MathF64Test, PowersByANumberAreAccurate) {
  for (double exponent : {2.5, -3.0, 7.0, 0.1, 0.0, -0.0, kInfinity, -kInfinity, kNotANumber}) {
    const std::vector<double> x = Arguments(0.1, 10);
    std::vector<double> z(x.size());
    const auto n = static_cast<int64_t>(x.size());
    for (int64_t i = 0; i < n; ++i) z[i] = Pow(x[i], exponent);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double want = std::pow(static_cast<long double>(x[i]), exponent);
      ASSERT_LE(Ulps(z[i], want), 1.0) << std::hexfloat << x[i] << " ^ " << exponent;
    }
  }
}

}  // namespace
}  // namespace firn::math
