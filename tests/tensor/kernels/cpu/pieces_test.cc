// Functions in pieces keep nearly all of a float's digits over their range.
#include "tensor/kernels/cpu/pieces.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace firn::cpu {
namespace {

constexpr int kLanes = static_cast<int>(kSimdLanes<float>);

// The greatest relative error in units of a float's 2^-24, over [0, end).
double WorstOf(double (*f)(double), float scale, double end) {
  const Pieces pieces(f, scale);
  double worst = 0;
  constexpr int kSteps = 100000;
  for (int i = 0; i < kSteps; i += kLanes) {
    Vec<float> z = {};
    for (int j = 0; j < kLanes; ++j) {
      z[j] = static_cast<float>(end * static_cast<double>(i + j) / (kSteps + kLanes));
    }
    const Vec<float> y = pieces(z);
    for (int j = 0; j < kLanes; ++j) {
      const double want = f(static_cast<double>(z[j]));
      worst = std::max(worst, std::abs(static_cast<double>(y[j]) - want) / want * 0x1p24);
    }
  }
  return worst;
}

TEST(PiecesTest, AreRightToTheLastPlace) {
  EXPECT_LT(WorstOf([](double z) { return 1 / (1.5 + z); }, 1, 15), 1.3);
  EXPECT_LT(WorstOf([](double z) { return std::exp(-z); }, 4, 3.75), 1.3);
  EXPECT_LT(WorstOf([](double z) { return std::sqrt(2 + z); }, 2, 7.5), 1.3);
}

TEST(PiecesTest, KeepNaN) {
  const Pieces pieces([](double z) { return 1 / (1.5 + z); }, 1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(pieces(Vec<float>{} + nan)[0]));
}

}  // namespace
}  // namespace firn::cpu
