// Numbers in lines, and where a message points when they are none.
#include "firn/io/csv.h"

#include "firn/io/csv_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TEST(CsvTest, EmptyFieldsMakeARowWhateverSeparatesThem) {
  const CsvOptions tabs = {.separator = '\t', .categories = {{0, {"", "x"}}, {1, {"", "y"}}}};
  for (const std::string end : {"", "\n", "\n\n \r\n"}) {
    EXPECT_THAT(ParseCsv("x\ty\n\t\nx\t\n\t" + end, "t.csv", tabs)->ToVector<float>(),
                ElementsAre(1, 1, 0, 0, 1, 0, 0, 0));
  }
  CsvOptions blanks = tabs;
  blanks.separator = ' ';
  EXPECT_THAT(ParseCsv("x y\n \n\t\n", "t.csv", blanks)->ToVector<float>(),
              ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(Error("1\t2\n\t\n", {.separator = '\t'}),
              HasSubstr("line 2, column 0 (counted from 0): expected a number, got \"\""));
}

TEST(CsvTest, AByteOrderMarkIsNoPartOfTheFirstField) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_THAT(ParseCsv(mark + "1,2\n", "t.csv")->ToVector<float>(), ElementsAre(1, 2));
  EXPECT_EQ(ParseCsv(mark, "t.csv")->shape(), (Shape{0, 0}));
  const std::string path = TempPath("marked.csv");
  WriteFile(path, mark + "\"a\",1\nb,2\n");
  EXPECT_THAT(LoadCsvWords(path, 0), ElementsAre("a", "b"));
  // Once, and nowhere else.
  EXPECT_THAT(Error(mark + mark + "1\n"), HasSubstr("line 1, column 0"));
  EXPECT_THAT(Error("1\n" + mark + "2\n"), HasSubstr("line 2, column 0"));
}

TEST(CsvTest, NumbersTooSmallAreZeroAndHaveOneSign) {
  const auto number = [](const std::string& text) { return ParseCsv(text, "t.csv", {}); };
  EXPECT_EQ(number("1e-400")->Item(), 0);
  EXPECT_EQ(number("-1e-60,+2")->ToVector<float>(), (std::vector<float>{0, 2}));
  for (const char* const text : {"1e400", "+-5", "++5", "+"}) {
    EXPECT_EQ(number(text).status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

TEST(CsvTest, SkipsAHeadingAndTakesAnotherSeparator) {
  const Tensor t = *ParseCsv("a;b\n1;2\n", "t.csv", {.separator = ';', .skip_lines = 1});
  EXPECT_THAT(t.ToVector<float>(), ElementsAre(1, 2));
}

TEST(CsvTest, NamesLineAndColumn) {
  EXPECT_EQ(Error("1,2\n3,x4\n"),
            "t.csv: line 2, column 1 (counted from 0): expected a number, got \"x4\" "
            "(CsvOptions::categories reads words, ::columns leaves columns out)");
  EXPECT_EQ(Error("1,2\n3\n"), "t.csv: line 2: expected 2 columns, got 1");
  EXPECT_THAT(Error("1,2,\n"),
              HasSubstr("line 1, column 2 (counted from 0): expected a number, got \"\""));
  EXPECT_EQ(Error("1\n\n2\n"), "t.csv: line 2: expected a row, got an empty line");
  EXPECT_THAT(Error("1e999\n"), HasSubstr("expected a number"));
  EXPECT_THAT(Error("1 2\n"), HasSubstr("expected a number"));
}

TEST(CsvTest, ShowsAnyBytesAsText) {
  EXPECT_THAT(Error("\x89HDF\x01\n"), HasSubstr("got \"\uFFFDHDF\\u0001\" ("));
  EXPECT_THAT(Error("\xC3\xA9\n"), HasSubstr("got \"\xC3\xA9\" ("));
  EXPECT_THAT(Error(std::string(41, 'x')), HasSubstr("got \"" + std::string(40, 'x') + "\"... ("));
}

constexpr char kFlowers[] =
    "id,petal,species\n"
    "a,1.5, setosa\n"
    "b,4.5,virginica\n"
    "c,3.5,setosa \n";

TEST(CsvTest, ReadsTheColumnsThatAreAskedForInTheirOrder) {
  const Tensor t = *ParseCsv("1,a,2\n3,b,4\n", "t.csv", {.columns = {2, 0, 2}});
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_THAT(t.ToVector<float>(), ElementsAre(2, 1, 2, 4, 3, 4));
  EXPECT_EQ(ParseCsv("", "t.csv", {.columns = {2, 0}})->shape(), (Shape{0, 2}));
}

TEST(CsvTest, ReadsWordsAsTheirPlaces) {
  CsvOptions options = {.skip_lines = 1, .columns = {1, 2}};
  options.categories[2] = {"virginica", "setosa"};
  EXPECT_THAT(ParseCsv(kFlowers, "t.csv", options)->ToVector<float>(),
              ElementsAre(1.5, 1, 4.5, 0, 3.5, 1));
  options.categories[2] = {"setosa", "rosa \"x\""};
  EXPECT_EQ(Error(kFlowers, options),
            "t.csv: line 3, column 2 (counted from 0): expected one of \"setosa\", "
            "\"rosa \\\"x\\\"\", got \"virginica\"");
  EXPECT_EQ(Error("x\n", {.categories = {{0, {"0", "1", "2", "3", "4", "5", "6", "7", "8"}}}}),
            "t.csv: line 1, column 0 (counted from 0): expected one of \"0\", \"1\", \"2\", \"3\", "
            "\"4\", "
            "\"5\", \"6\", \"7\", ... (9 words), got \"x\"");
}

TEST(CsvTest, FindsTheWordsOfAColumn) {
  const std::string path = TempPath("flowers.csv");
  WriteFile(path, kFlowers);
  EXPECT_THAT(LoadCsvWords(path, 2, {.skip_lines = 1}), ElementsAre("setosa", "virginica"));
  EXPECT_THAT(testing::ErrorOf([&] { LoadCsvWords(path, 3); }),
              HasSubstr("flowers.csv: line 1, which has 3 columns: LoadCsvWords asks for column 3 "
                        "(want 0 to 2)"));
}

TEST(CsvTest, QuotesHoldSeparatorsAndQuotes) {
  CsvOptions options;
  options.categories[1] = {"a, b", "say \"c\""};
  EXPECT_THAT(
      ParseCsv("\"1\",\"a, b\"\r\n2 , \"say \"\"c\"\"\" \n", "t.csv", options)->ToVector<float>(),
      ElementsAre(1, 0, 2, 1));
  EXPECT_THAT(ParseCsv("1\t \"2\"\t3", "t.csv", {.separator = '\t'})->ToVector<float>(),
              ElementsAre(1, 2, 3));
  EXPECT_EQ(Error("1,\"2\n"),
            "t.csv: line 1, column 1 (counted from 0): expected a closing quote, "
            "got \"\\\"2\" up to the end of the line");
  EXPECT_EQ(Error("\"1\"2,3\n"),
            "t.csv: line 1, column 0 (counted from 0): expected a separator after the quotes, got "
            "\"2\"");
}

TEST(CsvTest, RefusesOptionsThatMakeNoSense) {
  const auto error = [](const CsvOptions& options) {
    const absl::Status status = ParseCsv("1,2\n", "t.csv", options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(error({.columns = {1, 2}}),
            "t.csv: line 1, which has 2 columns: CsvOptions::columns names column 2 (want 0 to 1)");
  EXPECT_THAT(error({.columns = {-1}}), HasSubstr("names column -1 (want 0 to 1)"));
  EXPECT_THAT(error({.categories = {{2, {"a"}}}}),
              HasSubstr("CsvOptions::categories names column"));
  EXPECT_EQ(error({.categories = {{0, {}}}}), "csv: categories of column 0 has no words");
  EXPECT_EQ(error({.categories = {{0, {"a", "a"}}}}),
            "csv: categories of column 0 has \"a\" twice");
  for (const char separator : {'\n', '\r', '"'}) {
    EXPECT_THAT(error({.separator = separator}), HasSubstr("cannot be the separator"));
  }
  EXPECT_EQ(error({.skip_lines = -1}), "csv: skip_lines is -1 (want >= 0)");
}

TEST(CsvTest, LoadCsvThrowsWhatReadCsvReturns) {
  const std::string path = TempPath("t.csv");
  WriteFile(path, "1,2\n");
  EXPECT_THAT(LoadCsv(path).ToVector<float>(), ElementsAre(1, 2));
  EXPECT_THAT(testing::ErrorOf([&] { LoadCsv("/nowhere.csv"); }),
              HasSubstr("csv: cannot open /nowhere.csv"));
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
