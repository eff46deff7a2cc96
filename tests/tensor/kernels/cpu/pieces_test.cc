// Functions in pieces keep nearly all digits over their range.
#include "firn/tensor/kernels/cpu/pieces.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace firn::cpu {
namespace {

// The greatest relative error in units of T's roundings, over [0, end).
template <class T>
double WorstOf(long double (*f)(long double), T scale, double end) {
  constexpr int kLanes = static_cast<int>(kSimdLanes<T>);
  const Pieces<T> pieces(f, scale);
  long double worst = 0;
  constexpr int kSteps = 100000;
  for (int i = 0; i < kSteps; i += kLanes) {
    Vec<T> z = {};
    for (int j = 0; j < kLanes; ++j) {
      z[j] = static_cast<T>(end * static_cast<double>(i + j) / (kSteps + kLanes));
    }
    const Vec<T> y = pieces(z);
    const auto sum = pieces.Unrounded(z);
    for (int j = 0; j < kLanes; ++j) {
      const long double want = f(static_cast<long double>(z[j]));
      worst = std::max(worst, std::abs(static_cast<long double>(y[j]) - want) / want);
      EXPECT_EQ(sum.high[j], y[j]);
      EXPECT_LE(std::abs(sum.low[j]), std::abs(y[j]) * std::numeric_limits<T>::epsilon());
    }
  }
  return static_cast<double>(worst) * 2 / static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
void ExpectRight(double units) {
  EXPECT_LT(WorstOf<T>([](long double z) { return 1 / (1.5L + z); }, 1, 15), units);
  EXPECT_LT(WorstOf<T>([](long double z) { return std::exp(-z); }, 4, 3.75), units);
  EXPECT_LT(WorstOf<T>([](long double z) { return std::sqrt(2 + z); }, 2, 7.5), units);
}

TEST(PiecesTest, OfFloatsAreRightToTheLastPlace) { ExpectRight<float>(1.3); }

TEST(PiecesTest, OfDoublesAreRightToTheLastPlace) {
  ExpectRight<double>(2.1);  // 1.5 where products and sums are merged
  EXPECT_LT(WorstOf<double>([](long double z) { return 1 / (1.5L + z); }, 1, 255), 1.4);
}

template <class T>
void ExpectNaN() {
  const Pieces<T> pieces([](long double z) { return 1 / (1.5L + z); }, 1);
  EXPECT_TRUE(std::isnan(pieces(Vec<T>{} + std::numeric_limits<T>::quiet_NaN())[0]));
}

TEST(PiecesTest, KeepNaN) {
  ExpectNaN<float>();
  ExpectNaN<double>();
}

}  // namespace
}  // namespace firn::cpu
