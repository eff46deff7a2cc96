// The numbers of compare_test.py, whose statistics these are.
#include "benchmarks/versus_stats.h"

#include <gtest/gtest.h>

namespace firn::benchmarks {
namespace {

TEST(VersusStatsTest, QuantilesInterpolateBetweenSortedValues) {
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_EQ(Quantile({7}, 0.9), 7);
}

TEST(VersusStatsTest, ASummaryCountsBlocksNotSteps) {
  const BlockSummary s = Summarize({{1, 1, 1, 1, 9}, {2}, {3}, {50, 50, 50}});
  EXPECT_EQ(s.median_ms, 2.5);
  EXPECT_EQ(s.min_ms, 1);
  EXPECT_EQ(s.spread, 14.75 - 1.75);
}

TEST(VersusStatsTest, ARatioOfConstantTimesIsExact) {
  const RatioInterval r = PairedRatio(Blocks(5, {4.0}), Blocks(5, {2.0}));
  EXPECT_EQ(r.ratio, 2);
  EXPECT_EQ(r.low, 2);
  EXPECT_EQ(r.high, 2);
}

TEST(VersusStatsTest, ASlowdownThatBothShareCancels) {
  Blocks a, b;
  for (const double drift : {1.0, 1.0, 5.0, 9.0, 20.0}) {
    a.push_back({3 * drift});
    b.push_back({2 * drift});
  }
  const RatioInterval r = PairedRatio(a, b);
  EXPECT_NEAR(r.ratio, 1.5, 1e-12);
  EXPECT_NEAR(r.low, 1.5, 1e-12);
  EXPECT_NEAR(r.high, 1.5, 1e-12);
}

TEST(VersusStatsTest, NoiseThatHidesTheDifferenceGivesAnIntervalAroundOne) {
  const RatioInterval r =
      PairedRatio({{1.0}, {3.0}, {1.1}, {2.9}, {2.0}}, {{3.0}, {1.0}, {2.9}, {1.1}, {2.1}});
  EXPECT_LT(r.low, 1);
  EXPECT_GT(r.high, 1);
}

}  // namespace
}  // namespace firn::benchmarks
