// Compares the generator with the authors' known answers, and tests the numbers that are made of
// its words.
#include "firn/device/philox.h"

#include <array>
#include <cmath>
#include <vector>

#include "firn/device/inner.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

struct KnownAnswer {
  std::array<uint32_t, 4> counter;
  std::array<uint32_t, 2> key;
  std::array<uint32_t, 4> result;
};

// The philox4x32 10 lines of kat_vectors in Random123, the authors' own library.
constexpr KnownAnswer kKnownAnswers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

TEST(PhiloxTest, GivesTheKnownAnswers) {
  for (const KnownAnswer& known : kKnownAnswers) {
    const PhiloxResult result =
        Philox4x32({{known.counter[0], known.counter[1], known.counter[2], known.counter[3]}},
                   known.key[0], known.key[1]);
    EXPECT_TRUE(std::equal(known.result.begin(), known.result.end(), result.v));
  }
}

TEST(PhiloxTest, WorksInConstantExpressions) {
  static_assert(Philox4x32({{0, 0, 0, 0}}, 0, 0).v[3] == 0x9b00dbd8);
  static_assert(UniformFloat(0xffffffff) < 1.0f);
}

TEST(PhiloxTest, PositionIsSeedAndOffset) {
  const PhiloxState state{0x0123456789abcdef, 0xfffffffe};
  const PhiloxResult got = PhiloxAt(state, 3);  // counter 2^32 + 1
  const PhiloxResult want = Philox4x32({{1, 1, 0, 0}}, 0x89abcdef, 0x01234567);
  EXPECT_TRUE(std::equal(want.v, want.v + 4, got.v));
}

TEST(PhiloxTest, UniformsStayBelowOneAndUseAllTheirBits) {
  EXPECT_EQ(UniformFloat(0), 0.0f);
  EXPECT_EQ(UniformFloat(255), 0.0f);
  EXPECT_EQ(UniformFloat(256), 0x1p-24f);
  EXPECT_EQ(UniformFloat(0xffffffff), 1.0f - 0x1p-24f);
  EXPECT_EQ(UniformDouble(0, 2047), 0.0);
  EXPECT_EQ(UniformDouble(0, 2048), 0x1p-53);
  EXPECT_EQ(UniformDouble(0xffffffff, 0xffffffff), 1.0 - 0x1p-53);
}

TEST(PhiloxTest, NormalsUseTheirWordsInOrder) {
  // 1 - u near 3/4 gives the radius, about 1/4 of a turn the angle.
  const NormalPair<double> pair = NormalDoubles({{0x40000000, 0x800, 0x40000000, 0x1000}});
  const double u = 0.25 + 0x1p-53, turn = 0.25 + 0x1p-52;
  const double exact = std::sqrt(-2 * std::log(1 - u));
  EXPECT_NEAR(pair.first, exact * std::cos(2 * std::acos(-1.0) * turn), 1e-15);
  EXPECT_NEAR(pair.second, exact, 1e-15);
}

TEST(PhiloxTest, NormalsAreFiniteAtTheEnds) {
  for (const uint32_t a : {0u, 0xffffffffu}) {
    const NormalPair<double> pair = NormalDoubles({{a, a, 0, 0}});
    EXPECT_LT(std::abs(pair.first), 8.58);
  }
}

// Means of 2 * 10^5 numbers against their expectations, within 5 standard deviations.
TEST(PhiloxTest, MomentsAreThoseOfTheDistributions) {
  constexpr int kCounters = 100000;
  double uniform = 0, uniform2 = 0, normal = 0, normal2 = 0, normal4 = 0, product = 0;
  for (uint64_t i = 0; i < kCounters; ++i) {
    const PhiloxResult r = PhiloxAt({42, 0}, i);
    for (const uint32_t word : {r.v[0], r.v[1]}) {
      const double u = UniformFloat(word);
      uniform += u;
      uniform2 += u * u;
    }
    const NormalPair<double> pair = NormalDoubles(r);
    product += pair.first * pair.second;
    for (const double x : {pair.first, pair.second}) {
      normal += x;
      normal2 += x * x;
      normal4 += x * x * x * x;
    }
  }
  constexpr double kN = 2 * kCounters;
  const double s = 5 / std::sqrt(kN);
  EXPECT_NEAR(uniform / kN, 0.5, s * std::sqrt(1.0 / 12));
  EXPECT_NEAR(uniform2 / kN, 1.0 / 3, s * std::sqrt(4.0 / 45));
  EXPECT_NEAR(normal / kN, 0, s);
  EXPECT_NEAR(normal2 / kN, 1, s * std::sqrt(2.0));
  EXPECT_NEAR(normal4 / kN, 3, s * std::sqrt(96.0));
  EXPECT_NEAR(product / kCounters, 0, 5 / std::sqrt(double{kCounters}));
}

}  // namespace
}  // namespace firn
