#include "firn/io/metrics/running_mean.h"

#include <cmath>
#include <limits>

#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

TEST(RunningMeanTest, WeighsNumbersAndElementsOfTensors) {
  RunningMean mean;
  EXPECT_TRUE(std::isnan(mean.Value()));
  mean.Update(2.0, 3);
  mean.Update(FromVector<float>({4, 6, 8, 10}, {2, 2}));
  EXPECT_EQ(mean.Value(), (2.0 * 3 + 4 + 6 + 8 + 10) / 7);
  EXPECT_EQ(mean.weight(), 7);
  RunningMean other;
  other.Update(16);
  mean.Merge(other);
  EXPECT_EQ(mean.Value(), (34.0 + 16) / 8);
  mean.Reset();
  EXPECT_EQ(mean.weight(), 0);
}

TEST(RunningMeanTest, SumsInDoublePrecision) {
  RunningMean mean;
  mean.Update(1e8);
  for (int i = 0; i < 1000; ++i) mean.Update(1.0);  // each of them is lost in f32
  EXPECT_EQ(mean.Value() * 1001, 1e8 + 1000);
}

TEST(RunningMeanTest, ZeroWeightCountsForNothingAndNegativeOnesAreRefused) {
  RunningMean mean;
  mean.Update(1.0);
  mean.Update(std::nan(""), 0);
  for (double weight : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(testing::ErrorOf([&] { mean.Update(1.0, weight); }),
                ::testing::HasSubstr("a weight is"));
  }
  EXPECT_EQ(mean.Value(), 1);
}

}  // namespace
}  // namespace firn::io
