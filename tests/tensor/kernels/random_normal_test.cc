// Normal numbers against their definition in double: sqrt(-2 log(1 - u)) at the angle 2 pi v. The
// loops are compiled as kernels are.

#include "firn/tensor/kernels/random_normal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "firn/device/inner.h"

namespace firn {
namespace {

constexpr double kTurn = 6.283185307179586477;

std::vector<uint32_t> Words() {
  std::mt19937 random(3);
  std::vector<uint32_t> words = {0u,          0xffu,       0x100u,      0x1fffffffu, 0x20000000u,
                                 0x3fffffffu, 0x40000000u, 0x60000000u, 0x7fffffffu, 0x80000000u,
                                 0xa0000000u, 0xc0000000u, 0xdfffffffu, 0xe0000000u, 0xffffffffu};
  for (int i = 0; i < 20000; ++i) words.push_back(static_cast<uint32_t>(random()));
  return words;
}

// The logarithm and the sine are off by 2 units of the last place, the root and the products by
// half of one each; the sine's own error counts against the radius.
TEST(RandomNormalTest, FloatsAreThoseOfTheDefinition) {
  const std::vector<uint32_t> words = Words();
  for (size_t i = 0; i < words.size(); ++i) {
    const uint32_t a = words[i], b = words[words.size() - 1 - i];
    const NormalPair<float> got = NormalFloatsFrom(a, b);
    const double radius = std::sqrt(-2 * std::log(1 - double{UniformFloat(a)}));
    const double angle = kTurn * UniformFloat(b), bound = 4 * 0x1p-24 * radius;
    EXPECT_NEAR(got.first, radius * std::cos(angle), bound) << a << ", " << b;
    EXPECT_NEAR(got.second, radius * std::sin(angle), bound) << a << ", " << b;
    EXPECT_LT(std::abs(got.first), 5.78f);
  }
}

TEST(RandomNormalTest, DoublesAreThoseOfTheDefinition) {
  const std::vector<uint32_t> words = Words();
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const uint32_t a = words[i], b = words[i + 1], c = words[words.size() - 1 - i];
    const NormalPair<double> got = NormalDoublesFrom(a, b, c, a);
    const long double radius =
        std::sqrt(-2 * std::log(1 - static_cast<long double>(UniformDouble(a, b))));
    const long double angle = 6.28318530717958647692529L * UniformDouble(c, a);
    const auto bound = static_cast<double>(4 * 0x1p-53L * radius);
    EXPECT_NEAR(got.first, static_cast<double>(radius * std::cos(angle)), bound) << a << ", " << c;
    EXPECT_NEAR(got.second, static_cast<double>(radius * std::sin(angle)), bound) << a << ", " << c;
    EXPECT_LT(std::abs(got.first), 8.58);
  }
}

// Quarters of a turn come out exactly.
TEST(RandomNormalTest, QuarterTurnsAreExact) {
  const double radius = std::sqrt(-2 * std::log(0.75));
  for (uint32_t quarter = 0; quarter < 4; ++quarter) {
    const NormalPair<float> single = NormalFloatsFrom(0x40000000, quarter << 30);
    const NormalPair<double> pair = NormalDoublesFrom(0x40000000, 0, quarter << 30, 0);
    EXPECT_EQ(quarter % 2 == 1 ? single.first : single.second, 0);
    EXPECT_EQ(quarter % 2 == 1 ? pair.first : pair.second, 0);
    const double want = quarter < 2 ? radius : -radius;
    EXPECT_NEAR(quarter % 2 == 1 ? single.second : single.first, want, 1e-7) << quarter;
    EXPECT_NEAR(quarter % 2 == 1 ? pair.second : pair.first, want, 1e-15) << quarter;
  }
}

// Moments of 2 * 10^5 numbers against their expectations, within 5 standard deviations.
TEST(RandomNormalTest, MomentsAreThoseOfTheDistribution) {
  constexpr int kCounters = 100000;
  constexpr double kN = 2 * kCounters;
  double sum = 0, sum2 = 0, sum4 = 0, product = 0;
  for (uint64_t i = 0; i < kCounters; ++i) {
    const PhiloxResult r = PhiloxAt({42, 0}, i);
    const NormalPair<float> pair = NormalFloatsFrom(r.v[2], r.v[3]);
    product += double{pair.first} * pair.second;
    for (const double x : {double{pair.first}, double{pair.second}}) {
      sum += x;
      sum2 += x * x;
      sum4 += x * x * x * x;
    }
  }
  const double s = 5 / std::sqrt(kN);
  EXPECT_NEAR(sum / kN, 0, s);
  EXPECT_NEAR(sum2 / kN, 1, s * std::sqrt(2.0));
  EXPECT_NEAR(sum4 / kN, 3, s * std::sqrt(96.0));
  EXPECT_NEAR(product / kCounters, 0, 5 / std::sqrt(double{kCounters}));
}

}  // namespace
}  // namespace firn
