// Numbers in lines, and where a message points when they are none.
#include "io/csv.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Error(const std::string& text, const CsvOptions& options = {}) {
  const absl::StatusOr<Tensor> t = ParseCsv(text, "t.csv", options);
  EXPECT_EQ(t.status().code(), absl::StatusCode::kDataLoss);
  return std::string(t.status().message());
}

TEST(CsvTest, ReadsRowsAndColumns) {
  const Tensor t = *ParseCsv("1,2.5,-3e2\r\n 4 ,+5,\t6\n", "t.csv");
  EXPECT_EQ(t.spec().ToString(), "f32 [2, 3] on cpu");
  EXPECT_THAT(t.ToVector<float>(), ElementsAre(1, 2.5, -300, 4, 5, 6));
}

TEST(CsvTest, TakesALastLineWithoutItsEndAndEmptyLinesAfterIt) {
  EXPECT_EQ(ParseCsv("1\n2", "t.csv")->shape(), (Shape{2, 1}));
  EXPECT_EQ(ParseCsv("1\n2\n\n \r\n\n", "t.csv")->shape(), (Shape{2, 1}));
  EXPECT_EQ(ParseCsv("", "t.csv")->shape(), (Shape{0, 0}));
}

TEST(CsvTest, SkipsAHeadingAndTakesAnotherSeparator) {
  const Tensor t = *ParseCsv("a;b\n1;2\n", "t.csv", {.separator = ';', .skip_lines = 1});
  EXPECT_THAT(t.ToVector<float>(), ElementsAre(1, 2));
}

TEST(CsvTest, NamesLineAndColumn) {
  EXPECT_EQ(Error("1,2\n3,x4\n"), "t.csv: line 2, column 2: expected a number, got 'x4'");
  EXPECT_EQ(Error("1,2\n3\n"), "t.csv: line 2: expected 2 columns, got 1");
  EXPECT_EQ(Error("1,2,\n"), "t.csv: line 1, column 3: expected a number, got ''");
  EXPECT_EQ(Error("1\n\n2\n"), "t.csv: line 2: expected numbers, got an empty line");
  EXPECT_THAT(Error("1e999\n"), HasSubstr("expected a number"));
  EXPECT_THAT(Error("1 2\n"), HasSubstr("expected a number"));
}

TEST(CsvTest, ReadsCompressedFilesUpToTheLimit) {
  const std::string path = TempPath("t.csv.gz");
  WriteFile(path, Gzip("1,2\n3,4\n"));
  EXPECT_THAT(ReadCsv(path)->ToVector<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(ReadCsv(path, {.limits = {.max_total_bytes = 7}}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace firn::io
