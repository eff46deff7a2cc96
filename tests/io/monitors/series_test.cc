#include "firn/io/monitors/series.h"

#include "firn/io/monitors/series_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SeriesTest, ReadsWholeLines) {
  const std::string path = TempPath("loss.series.txt");
  WriteFile(path, "0 0.5\r\n10 inf\n20 1e-3\n30 0.2");
  const Series series = LoadSeries(path);
  EXPECT_EQ(series.name, "loss");
  EXPECT_THAT(series.x, ElementsAre(0, 10, 20));
  EXPECT_THAT(series.y, ElementsAre(0.5, std::numeric_limits<double>::infinity(), 1e-3));
  EXPECT_TRUE(TryParseSeries("", "empty")->x.empty());
}

TEST(SeriesTest, ReadsTimers) {
  const std::string path = TempPath("t.timer.txt");
  WriteFile(path, "9 2.5 10 2.5\n19 5 10 7.5\n");
  EXPECT_THAT(LoadTimer(path).y, ElementsAre(2.5, 7.5));
  EXPECT_THAT(LoadTimer(path, TimerColumn::kElapsed).y, ElementsAre(2.5, 5));
  EXPECT_THAT(LoadTimer(path, TimerColumn::kPerStep).y, ElementsAre(0.25, 0.5));
  EXPECT_EQ(LoadTimer(path).name, "t");
}

TEST(SeriesTest, NamesTheLineItCannotRead) {
  EXPECT_EQ(std::string(TryParseSeries("0 1\n1 2 3\n", "a").status().message()),
            "a: line 2: expected 2 numbers with a blank between them, got \"1 2 3\"");
  EXPECT_EQ(TryParseTimer("0 1\n", "a").status().code(), absl::StatusCode::kDataLoss);
  for (const char* text : {"\n", "1\n", "1 \n", " 1 2\n", "1  2\n", "a 1\n", "1 0x1\n"}) {
    EXPECT_FALSE(TryParseSeries(text, "a").ok()) << text;
  }
  EXPECT_THAT(ErrorOf([] { LoadSeries(TempPath("none")); }), HasSubstr("none"));
  EXPECT_THAT(ErrorOf([] { LoadSeries(::testing::TempDir()); }), HasSubstr("regular file"));
}

TEST(SeriesTest, OfOneNameAreToldApartByTheirFolders) {
  const auto names = [](const std::vector<std::string>& paths) {
    std::vector<Series> series;
    for (const std::string& path : paths) {
      const std::string file = path.substr(path.rfind('/') + 1);
      series.push_back({.name = file.substr(0, file.find('.'))});
    }
    TellApart(paths, &series);
    std::vector<std::string> found;
    for (const Series& s : series) found.push_back(s.name);
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({"a/loss.series.txt", "b/loss.series.txt", "b/lr.series.txt"}),
            (Names{"a/loss", "b/loss", "lr"}));
  EXPECT_EQ(names({"/x/a/run/loss.series.txt", "/x/b/run/loss.series.txt"}),
            (Names{"a/run/loss", "b/run/loss"}));
  EXPECT_EQ(names({"loss.series.txt", "old/loss.series.txt"}), (Names{"loss", "old/loss"}));
  EXPECT_EQ(names({"loss.series.txt"}), (Names{"loss"}));
  // Series that folders do not tell apart are numbered.
  EXPECT_EQ(names({"loss.series.txt", "loss.series.txt"}), (Names{"loss", "loss (2)"}));
  EXPECT_EQ(names({"a/loss.series.txt", "b/loss.series.txt", "b/./loss.series.txt"}),
            (Names{"a/loss", "b/loss", "b/loss (2)"}));
}

}  // namespace
}  // namespace firn::io
