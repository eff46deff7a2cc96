#include "tools/firn/monitor/thin_curve.h"

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/firn/monitor/sample.h"

namespace firn::cli {
namespace {

using ::testing::ElementsAre;

ThinCurve Ramp(int from, int to) {
  ThinCurve curve;
  for (int i = from; i < to; ++i) curve.Add(i, -i);
  return curve;
}

TEST(ThinCurveTest, IsExactWhileItIsShort) {
  const io::Series series = Ramp(0, 512).Points("a");
  ASSERT_EQ(series.x.size(), 512u);
  for (size_t i = 0; i < series.x.size(); ++i) {
    EXPECT_EQ(series.x[i], static_cast<double>(i));
    EXPECT_EQ(series.y[i], -static_cast<double>(i));
  }
  EXPECT_EQ(series.name, "a");
}

TEST(ThinCurveTest, KeepsPeaksAndEndsOfAMillionPoints) {
  ThinCurve curve;
  for (int i = 0; i < 1'000'000; ++i) curve.Add(i, i == 123'457 ? 9 : i == 700'001 ? -9 : 0);
  const io::Series series = curve.Points("");
  EXPECT_LE(series.x.size(), 4 * ThinCurve::kMostRuns);
  EXPECT_EQ(series.x.front(), 0);
  EXPECT_EQ(series.x.back(), 999'999);
  for (size_t i = 1; i < series.x.size(); ++i) EXPECT_LE(series.x[i - 1], series.x[i]);
  for (size_t i = 0; i < series.x.size(); ++i) {
    const double place = series.y[i] > 0 ? 123'457 : 700'001;
    EXPECT_TRUE(series.y[i] == 0 || series.x[i] == place) << series.x[i];
  }
  const ThinCurve::Summary s = curve.Summarize();
  EXPECT_EQ(s.finite, 1'000'000);
  EXPECT_EQ(s.least, -9);
  EXPECT_EQ(s.largest, 9);
  EXPECT_EQ(s.last_x, 999'999);
}

TEST(ThinCurveTest, TellsWhatIsNotFinite) {
  ThinCurve curve;
  curve.Add(0, 1);
  curve.Add(1, std::nan(""));
  curve.Add(2, HUGE_VAL);
  EXPECT_EQ(curve.Summarize().finite, 1);
  EXPECT_EQ(curve.Summarize().not_finite, 2);
  EXPECT_EQ(curve.Summarize().last_y, HUGE_VAL);
  EXPECT_EQ(curve.Summarize().largest, 1);
  const io::Series series = curve.Points("");
  EXPECT_THAT(series.x, ElementsAre(0, 1, 2));
  EXPECT_TRUE(std::isnan(series.y[1]));
}

TEST(ThinCurveTest, LeavesOutWhatIsDoneAgain) {
  ThinCurve curve = Ramp(0, 10);
  curve.RemoveFrom(4);
  EXPECT_THAT(curve.Points("").x, ElementsAre(0, 1, 2, 3));
  ThinCurve again;
  again.Add(4, 7);
  curve.Append(again);
  EXPECT_EQ(curve.Points("").y.back(), 7);
  EXPECT_EQ(curve.Summarize().largest, 7);

  ThinCurve lengthy = Ramp(0, 100'000);
  lengthy.RemoveFrom(50'001);
  for (const double x : lengthy.Points("").x) EXPECT_LT(x, 50'001);
  EXPECT_GT(lengthy.Points("").x.back(), 49'000);
  EXPECT_EQ(lengthy.Summarize().last_x, lengthy.Points("").x.back());
}

TEST(ThinCurveTest, LeavesOutAPartOfWhatIsNotFinite) {
  ThinCurve curve;
  for (int i = 0; i < 4096; ++i) curve.Add(i, std::nan(""));
  curve.RemoveFrom(1001);  // in the middle of a run of eight
  EXPECT_EQ(curve.Summarize().finite, 0);
  EXPECT_EQ(curve.Summarize().not_finite, 1000 + 4);
  EXPECT_EQ(curve.Summarize().last_x, 1000);
  curve.Add(1001, 7);
  EXPECT_EQ(curve.Summarize().finite, 1);
  EXPECT_EQ(curve.Summarize().least, 7);
  EXPECT_EQ(curve.Summarize().largest, 7);
}

TEST(ThinCurveTest, AppendedCurvesStayShort) {
  ThinCurve curve = Ramp(0, 100'000);
  curve.Append(Ramp(100'000, 100'400));
  curve.Append(Ramp(100'400, 900'000));
  EXPECT_LE(curve.Points("").x.size(), 4 * ThinCurve::kMostRuns);
  EXPECT_EQ(curve.Summarize().finite, 900'000);
  EXPECT_EQ(curve.Summarize().least, -899'999);
}

TEST(SampleTest, IsEvenAndHasTheLast) {
  Sample<int> sample;
  EXPECT_TRUE(sample.Items().empty());
  for (int i = 0; i < 1000; ++i) {
    sample.Add(i);
    EXPECT_EQ(sample.Items().back(), i);
    EXPECT_LE(sample.Items().size(), 2 * Sample<int>::kMost + 1);
  }
  const std::vector<int> items = sample.Items();
  for (size_t i = 0; i + 1 < items.size(); ++i) EXPECT_EQ(items[i], static_cast<int>(i) * 64);
  sample.Remove([](int i) { return i >= 200; });
  EXPECT_THAT(sample.Items(), ElementsAre(0, 64, 128, 192));
}

}  // namespace
}  // namespace firn::cli
