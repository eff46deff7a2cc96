// Damaged series and timers are read line by line, or refused.
#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "io/monitors/series_status.h"
#include "tests/fuzz/mutations.h"

namespace firn::io {
namespace {

template <class Parse>
void Fuzz(const std::string& whole, Parse parse) {
  ASSERT_TRUE(parse(whole).ok());
  int64_t errors = 0;
  testing::FuzzText(whole, 20000, [&](const std::string& damaged) {
    const absl::StatusOr<Series> series = parse(damaged);
    if (!series.ok()) {
      ++errors;
      EXPECT_TRUE(std::string(series.status().message()).starts_with("f: line "));
      return;
    }
    const auto lines = std::count(damaged.begin(), damaged.end(), '\n');
    EXPECT_EQ(series->x.size(), static_cast<size_t>(lines));
    EXPECT_EQ(series->y.size(), series->x.size());
  });
  EXPECT_GT(errors, 1000);
}

TEST(SeriesReaderFuzzTest, SeriesNeverCrash) {
  Fuzz("0 0.5\n10 -1e-3\n20 nan\n30 inf\n40 12345\n",
       [](const std::string& text) { return ParseSeries(text, "f"); });
}

TEST(SeriesReaderFuzzTest, TimersNeverCrash) {
  Fuzz("9 1.5 10 1.5\n19 2.25 10 3.75\n29 0.5 10 4.25\n",
       [](const std::string& text) { return ParseTimer(text, "f", TimerColumn::kPerStep); });
}

}  // namespace
}  // namespace firn::io
