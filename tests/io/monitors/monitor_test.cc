// Expected lines are what nnabla.monitor writes: "{} {:g}" and "{} {} {} {}".
#include "firn/io/monitors/monitor.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>

#include "firn/io/monitors/series.h"
#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MonitorTest, MakesFoldersAndNames) {
  const Monitor monitor(TempPath("new/folder"));
  EXPECT_EQ(monitor.save_path(), TempPath("new/folder"));
  EXPECT_EQ(monitor.PathOf("training loss", ".x"), TempPath("new/folder") + "/training-loss.x");
  for (const char* name : {"", "..", "a/b"}) {
    EXPECT_THAT(ErrorOf([&] { monitor.PathOf(name, ""); }), HasSubstr("the name of a monitor"));
  }
  WriteFile(TempPath("file"), "");
  EXPECT_THAT(ErrorOf([] { Monitor(TempPath("file")); }), HasSubstr("file"));
  EXPECT_THAT(ErrorOf([] { Monitor(TempPath("file/below")); }), HasSubstr("file/below"));
}

TEST(MonitorSeriesTest, WritesMeansOfIntervals) {
  const Monitor monitor(TempPath("series"));
  std::ostringstream said;
  MonitorSeries series("training loss", monitor, {.interval = 2, .verbose = &said});
  for (int i = 0; i < 5; ++i) series.Add(i, i * 2);
  EXPECT_EQ(series.path(), TempPath("series") + "/training-loss.series.txt");
  EXPECT_EQ(ReadFile(series.path()), "1 1\n3 5\n");
  EXPECT_EQ(said.str(), "iter=1 {training loss}=1\niter=3 {training loss}=5\n");
  series.Add(5, FromValues({1 / 3.f}));
  EXPECT_EQ(ReadFile(series.path()), "1 1\n3 5\n5 4.16667\n");
}

TEST(MonitorSeriesTest, WritesWhatIsNotFinite) {
  MonitorSeries series("strange", Monitor(TempPath("series")));
  series.Add(0, -std::nan(""));
  series.Add(1, -std::numeric_limits<double>::infinity());
  series.Add(2, 1e300);
  EXPECT_EQ(ReadFile(series.path()), "0 nan\n1 -inf\n2 1e+300\n");
  EXPECT_TRUE(std::isnan(LoadSeries(series.path()).y[0]));
}

TEST(MonitorSeriesTest, BeginsAnewOrGoesOn) {
  const Monitor monitor(TempPath("series"));
  const std::string path = monitor.PathOf("run", ".series.txt");
  WriteFile(path, "0 1\n1 2\n2 3\n3 4.");  // whose writer was killed
  { MonitorSeries(std::string("run"), monitor, {.resume_at = 100}); }
  EXPECT_EQ(ReadFile(path), "0 1\n1 2\n2 3\n");
  {
    MonitorSeries series("run", monitor, {.interval = 2, .resume_at = 2});
    series.Add(2, 7);  // an interval is not over yet
    series.Add(3, 8);
  }
  EXPECT_EQ(ReadFile(path), "0 1\n1 2\n3 7.5\n");
  { MonitorSeries("run", monitor); }
  EXPECT_EQ(ReadFile(path), "");
}

TEST(MonitorSeriesTest, GoesOnWithLinesOfOtherSystemsAndLeavesOtherFilesAlone) {
  const Monitor monitor(TempPath("series"));
  const std::string path = monitor.PathOf("other", ".series.txt");
  WriteFile(path, "0 0.5\r\n1 0.25\r\n");
  { MonitorSeries("other", monitor, {.resume_at = 1}); }
  EXPECT_EQ(ReadFile(path), "0 0.5\r\n");
  for (const char* text : {"step loss\n0 1\n", "-9223372036854775808 1\n"}) {
    WriteFile(path, text);
    EXPECT_THAT(ErrorOf([&] { MonitorSeries("other", monitor, {.resume_at = 0}); }),
                HasSubstr("line 1: expected an index and 1 number"));
    EXPECT_EQ(ReadFile(path), text);
  }
}

TEST(MonitorSeriesTest, TakesIndicesOfAnySize) {
  MonitorSeries series("far", Monitor(TempPath("series")));
  series.Add(INT64_MAX - 1, 1);
  series.Add(INT64_MAX, 2);
  EXPECT_EQ(ReadFile(series.path()), "9223372036854775806 1\n9223372036854775807 2\n");
}

TEST(MonitorSeriesTest, ARemovedFileIsAnErrorAndNothingIsLost) {
  MonitorSeries series("gone", Monitor(TempPath("series")), {.interval = 2});
  std::filesystem::rename(series.path(), series.path() + ".away");
  series.Add(0, 1);
  EXPECT_THAT(ErrorOf([&] { series.Add(1, 2); }), HasSubstr("was removed or replaced"));
  std::filesystem::rename(series.path() + ".away", series.path());
  series.Add(2, 3);
  EXPECT_EQ(ReadFile(series.path()), "2 2\n");
}

TEST(MonitorTimeElapsedTest, WritesLapsAndTotals) {
  const Monitor monitor(TempPath("timer"));
  double now = 10;
  MonitorTimeElapsedOptions options{.interval = 2, .clock = [&] { return now; }};
  std::string path;
  {
    MonitorTimeElapsed timer("time", monitor, options);
    path = timer.path();
    for (int i = 0; i < 4; ++i) {
      now += 0.25;
      timer.Add(i);
    }
  }
  EXPECT_EQ(path, TempPath("timer") + "/time.timer.txt");
  EXPECT_EQ(ReadFile(path), "1 0.5 2 0.5\n3 0.5 2 1\n");
  now = 100;
  options.resume_at = 4;
  MonitorTimeElapsed timer("time", monitor, options);
  now += 4;
  timer.Add(5);
  EXPECT_EQ(ReadFile(path), "1 0.5 2 0.5\n3 0.5 2 1\n5 4 2 5\n");
  EXPECT_THAT(LoadTimer(path).y, ElementsAre(0.5, 1, 5));
  EXPECT_THAT(LoadTimer(path, TimerColumn::kPerStep).y, ElementsAre(0.25, 0.25, 2));
}

TEST(MonitorTest, RefusesIntervalsBelowOne) {
  const Monitor monitor(TempPath("series"));
  EXPECT_THAT(ErrorOf([&] { MonitorSeries("a", monitor, {.interval = 0}); }),
              HasSubstr("a: interval is 0 (want >= 1)"));
  EXPECT_THAT(ErrorOf([&] { MonitorTimeElapsed("a", monitor, {.interval = -1}); }),
              HasSubstr("a: interval is -1 (want >= 1)"));
}

}  // namespace
}  // namespace firn::io
