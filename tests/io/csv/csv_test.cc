// Numbers in lines, and the places in messages about cells that are no numbers.
#include "firn/io/csv/csv.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/csv/csv_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Error(const std::string& text, const CsvOptions& options = {}) {
  const absl::StatusOr<Tensor> t = TryParseCsv(text, "t.csv", options);
  EXPECT_EQ(t.status().code(), absl::StatusCode::kDataLoss);
  return std::string(t.status().message());
}

TEST(CsvTest, ReadsRowsAndColumns) {
  const Tensor t = *TryParseCsv("1,2.5,-3e2\r\n 4 ,+5,\t6\n", "t.csv");
  EXPECT_EQ(t.spec().ToString(), "f32 [2, 3] on cpu");
  EXPECT_THAT(t.ToVector<float>(), ElementsAre(1, 2.5, -300, 4, 5, 6));
}

TEST(CsvTest, TakesALastLineWithoutItsEndAndEmptyLinesAfterIt) {
  EXPECT_EQ(TryParseCsv("1\n2", "t.csv")->shape(), (Shape{2, 1}));
  EXPECT_EQ(TryParseCsv("1\n2\n\n \r\n\n", "t.csv")->shape(), (Shape{2, 1}));
  EXPECT_EQ(TryParseCsv("", "t.csv")->shape(), (Shape{0, 0}));
}

TEST(CsvTest, EmptyFieldsMakeARowWhateverSeparatesThem) {
  const CsvOptions tabs = {.separator = '\t', .categories = {{0, {"", "x"}}, {1, {"", "y"}}}};
  for (const std::string end : {"", "\n", "\n\n \r\n"}) {
    EXPECT_THAT(TryParseCsv("x\ty\n\t\nx\t\n\t" + end, "t.csv", tabs)->ToVector<float>(),
                ElementsAre(1, 1, 0, 0, 1, 0, 0, 0));
  }
  CsvOptions blanks = tabs;
  blanks.separator = ' ';
  EXPECT_THAT(TryParseCsv("x y\n \n\t\n", "t.csv", blanks)->ToVector<float>(),
              ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(Error("1\t2\n\t\n", {.separator = '\t'}),
              HasSubstr("line 2, column 0 (counted from 0): expected a number, got \"\""));
}

TEST(CsvTest, AByteOrderMarkIsNoPartOfTheFirstField) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_THAT(TryParseCsv(mark + "1,2\n", "t.csv")->ToVector<float>(), ElementsAre(1, 2));
  EXPECT_EQ(TryParseCsv(mark, "t.csv")->shape(), (Shape{0, 0}));
  const std::string path = TempPath("marked.csv");
  WriteFile(path, mark + "\"a\",1\nb,2\n");
  EXPECT_THAT(LoadCsvWords(path, 0), ElementsAre("a", "b"));
  // A byte order mark is skipped once, at the beginning, and nowhere else.
  EXPECT_THAT(Error(mark + mark + "1\n"), HasSubstr("line 1, column 0"));
  EXPECT_THAT(Error("1\n" + mark + "2\n"), HasSubstr("line 2, column 0"));
}

TEST(CsvTest, WideCharactersAreNoDamage) {
  for (const std::string mark : {"\xff\xfe", "\xfe\xff"}) {
    const absl::Status status = TryParseCsv(mark + "1", "t.csv").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(status.message()), HasSubstr("t.csv: text of 16 or 32 bits"));
  }
}

TEST(CsvTest, NumbersTooSmallAreZeroAndHaveOneSign) {
  const auto number = [](const std::string& text) { return TryParseCsv(text, "t.csv", {}); };
  EXPECT_EQ(number("1e-400")->Item(), 0);
  EXPECT_EQ(number("-1e-60,+2")->ToVector<float>(), (std::vector<float>{0, 2}));
  for (const char* const text : {"1e400", "+-5", "++5", "+"}) {
    EXPECT_EQ(number(text).status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

TEST(CsvTest, SkipsAHeadingAndTakesAnotherSeparator) {
  const Tensor t = *TryParseCsv("a;b\n1;2\n", "t.csv", {.separator = ';', .skip_lines = 1});
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
  const Tensor t = *TryParseCsv("1,a,2\n3,b,4\n", "t.csv", {.columns = {2, 0, 2}});
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_THAT(t.ToVector<float>(), ElementsAre(2, 1, 2, 4, 3, 4));
  EXPECT_EQ(TryParseCsv("", "t.csv", {.columns = {2, 0}})->shape(), (Shape{0, 2}));
}

TEST(CsvTest, ReadsWordsAsTheirPlaces) {
  CsvOptions options = {.skip_lines = 1, .columns = {1, 2}};
  options.categories[2] = {"virginica", "setosa"};
  EXPECT_THAT(TryParseCsv(kFlowers, "t.csv", options)->ToVector<float>(),
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
  EXPECT_THAT(TryParseCsv("\"1\",\"a, b\"\r\n2 , \"say \"\"c\"\"\" \n", "t.csv", options)
                  ->ToVector<float>(),
              ElementsAre(1, 0, 2, 1));
  EXPECT_THAT(TryParseCsv("1\t \"2\"\t3", "t.csv", {.separator = '\t'})->ToVector<float>(),
              ElementsAre(1, 2, 3));
  EXPECT_EQ(Error("1,\"2\n"),
            "t.csv: line 1, column 1 (counted from 0): expected a closing quote, "
            "got \"\\\"2\" up to the end of the line");
  EXPECT_EQ(Error("\"1\"2,3\n"),
            "t.csv: line 1, column 0 (counted from 0): expected a separator after the quotes, got "
            "\"2\"");
}

TEST(CsvTest, LinesEndInAnyWay) {
  for (const std::string text : {"1,2\n3,4\n", "1,2\r\n3,4\r\n", "1,2\r3,4\r", "1,2\r3,4",
                                 "1,2\r3,4\n", "1,2\n3,4\r\n\r\n", "1,2\r\n3,4\r\r"}) {
    const absl::StatusOr<Tensor> t = TryParseCsv(text, "t.csv");
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_EQ(t->shape(), (Shape{2, 2}));
    EXPECT_THAT(t->ToVector<float>(), ElementsAre(1, 2, 3, 4));
  }
  EXPECT_THAT(TryParseCsv("a,b\r1,2\r3,4\r", "t.csv", {.skip_lines = 1})->ToVector<float>(),
              ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(Error("1\r\r2\r"), "t.csv: line 2: expected a row, got an empty line");
  EXPECT_THAT(Error("1\r2\rx\r"), HasSubstr("t.csv: line 3, column 0"));
}

TEST(CsvTest, QuotesHoldEndsOfLines) {
  const std::string path = TempPath("lines.csv");
  WriteFile(path, "word,x\n\"a\nb\",1\n\"c\r\nd\",2\n\"e\"\"\",3\n");
  EXPECT_THAT(LoadCsvWords(path, "word"), ElementsAre("a\nb", "c\r\nd", "e\""));
  EXPECT_THAT(LoadCsv(path, {.columns = {"x"}}).ToVector<float>(), ElementsAre(1, 2, 3));
  // Lines are those of the text.
  EXPECT_THAT(Error("\"a\nb\",2\nc,x\n", {.columns = {1}}), HasSubstr("t.csv: line 3, column 1"));
  EXPECT_THAT(Error("1\n\"2\n3\n"),
              HasSubstr("line 2, column 0 (counted from 0): expected a closing "
                        "quote, got \"\\\"2\\u000a3\" up to the end of the text"));
}

TEST(CsvTest, FindsColumnsByTheirNames) {
  const std::string text = "\xEF\xBB\xBF id , petal,\"a \"\"b\"\"\",x,x\n7,1.5,2,3,4\n";
  const CsvOptions by_name = {.columns = {"a \"b\"", "id", 3}};
  EXPECT_THAT(TryParseCsv(text, "t.csv", by_name)->ToVector<float>(), ElementsAre(2, 7, 3));
  EXPECT_THAT(TryParseCsv(text, "t.csv", {.heading = true})->ToVector<float>(),
              ElementsAre(7, 1.5, 2, 3, 4));
  EXPECT_EQ(TryParseCsv("a,b\n", "t.csv", {.columns = {"b"}})->shape(), (Shape{0, 1}));
  const auto error = [&](const CsvOptions& options) {
    const absl::Status status = TryParseCsv(text, "t.csv", options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(
      error({.columns = {"pedal"}}),
      "t.csv: line 1, which has no column named \"pedal\" (CsvOptions::columns names it); the "
      "nearest is \"petal\"");
  EXPECT_THAT(error({.columns = {"x"}}), HasSubstr("which has columns 3 and 4 named \"x\""));
  EXPECT_THAT(error({.categories = {{"Id", {"7"}}}}),
              HasSubstr("no column named \"Id\" (CsvOptions::categories names it); the nearest is "
                        "\"id\""));
  EXPECT_THAT(error({.categories = {{"id", {"7"}}, {0, {"7"}}}}), HasSubstr("column 0 twice in"));
  EXPECT_THAT(Error("id\nx\n", {.heading = true}),
              HasSubstr("line 2, column 0 (\"id\"): expected a number"));
  const std::string path = TempPath("names.csv");
  WriteFile(path, text);
  EXPECT_THAT(LoadCsvNames(path), ElementsAre("id", "petal", "a \"b\"", "x", "x"));
}

TEST(CsvTest, WholeNumbersAreExactOrErrors) {
  const std::string text = "289203891,16777217\n-9007199254740993,16777216.0\n";
  EXPECT_EQ(
      Error("1\n289203891\n"),
      "t.csv: line 2, column 0 (counted from 0): expected a number that f32 does not round, got "
      "\"289203891\" (CsvOptions::dtype takes wider types, ::round the nearest number)");
  for (const char* const number : {"16777217", " -16777217 ", "\"16777217.00\"", "+0016777217",
                                   "100000000000000000000000001"}) {
    EXPECT_THAT(Error(number), HasSubstr("f32 does not round")) << number;
    EXPECT_TRUE(TryParseCsv(number, "t.csv", {.round = true}).ok()) << number;
  }
  // Numbers that are not written as whole ones within range, and numbers that are exact.
  for (const char* const number : {"16777217.5", "1.6777217e7", "1e30", "16777216", "33554436.0",
                                   "340282346638528859811704183484516925440", "inf"}) {
    EXPECT_TRUE(TryParseCsv(number, "t.csv").ok()) << number;
  }
  EXPECT_THAT(Error(text, {.dtype = DType::kF64}), HasSubstr("line 2, column 0"));
  const Tensor exact = *TryParseCsv(text, "t.csv", {.dtype = DType::kI64});
  EXPECT_EQ(exact.spec().ToString(), "i64 [2, 2] on cpu");
  EXPECT_THAT(exact.ToVector<int64_t>(),
              ElementsAre(289203891, 16777217, -9007199254740993, 16777216));
  EXPECT_THAT(TryParseCsv("289203891,0.1", "t.csv", {.dtype = DType::kF64})->ToVector<double>(),
              ElementsAre(289203891, 0.1));
}

TEST(CsvTest, IntegersStayInTheirType) {
  const auto read = [](const std::string& text, DType dtype) {
    return TryParseCsv(text, "t.csv", {.dtype = dtype});
  };
  EXPECT_THAT(
      read("9223372036854775807,-9223372036854775808", DType::kI64)->ToVector<int64_t>(),
      ElementsAre(std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()));
  EXPECT_THAT(read("2147483647,-2147483648,+1,-0", DType::kI32)->ToVector<int32_t>(),
              ElementsAre(2147483647, -2147483647 - 1, 1, 0));
  EXPECT_THAT(read("0,255,7.0", DType::kU8)->ToVector<uint8_t>(), ElementsAre(0, 255, 7));
  EXPECT_THAT(Error("1,256", {.dtype = DType::kU8}),
              HasSubstr("line 1, column 1 (counted from 0): expected a whole number from 0 to 255 "
                        "(u8), got \"256\" (CsvOptions::dtype"));
  for (const auto& [text, dtype] :
       std::vector<std::pair<std::string, DType>>{{"9223372036854775808", DType::kI64},
                                                  {"-9223372036854775809", DType::kI64},
                                                  {"2147483648", DType::kI32},
                                                  {"-2147483649", DType::kI32},
                                                  {"-1", DType::kU8},
                                                  {"1.5", DType::kI64},
                                                  {"1e3", DType::kI64},
                                                  {"99999999999999999999999", DType::kI64}}) {
    EXPECT_THAT(Error(text, {.dtype = dtype}), HasSubstr("expected a whole number from")) << text;
  }
  EXPECT_THAT(Error("x", {.dtype = DType::kI64}), HasSubstr("expected a number, got \"x\""));
  EXPECT_EQ(read("1", DType::kBF16).status().message(),
            "csv: dtype is bf16 (want f32, f64, i64, i32 or u8)");
}

TEST(CsvTest, WordsBecomeColumnsOfZerosAndOnes) {
  CsvOptions options = {.one_hot = {"color"}, .heading = true};
  options.categories["color"] = {"red", "green", "blue"};
  options.categories[2] = {"n", "y"};
  const std::string text = "x,color,ok\n1,green,y\n2,red,n\n";
  const Tensor t = *TryParseCsv(text, "t.csv", options);
  EXPECT_EQ(t.shape(), (Shape{2, 5}));
  EXPECT_THAT(t.ToVector<float>(), ElementsAre(1, 0, 1, 0, 1, 2, 1, 0, 0, 0));
  options.columns = {"color", 0, "color"};
  options.dtype = DType::kU8;
  EXPECT_THAT(TryParseCsv(text, "t.csv", options)->ToVector<uint8_t>(),
              ElementsAre(0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 2, 1, 0, 0));
  options.columns = {"x", "color"};
  options.dtype = DType::kF32;
  options.missing = CsvMissing::kValue;
  EXPECT_THAT(TryParseCsv(text + "3,,y\n", "t.csv", options)->ToVector<float>(),
              ElementsAre(1, 0, 1, 0, 2, 1, 0, 0, 3, 0, 0, 0));
  EXPECT_EQ(
      TryParseCsv(text, "t.csv", {.one_hot = {1}}).status().message(),
      "csv: CsvOptions::one_hot has column 1, whose words CsvOptions::categories does not list");
}

TEST(CsvTest, FilesOfManyPiecesAreReadWhole) {
  std::string text;
  std::vector<float> numbers;
  for (int i = 0; i < 60'000; ++i) {
    text += std::to_string(i) + ",\"7\",\"a\n,b\"" +
            (i % 3 == 0   ? "\r\n"
             : i % 3 == 1 ? "\r"
                          : "\n");
    numbers.insert(numbers.end(), {static_cast<float>(i), 7});
  }
  const std::string path = TempPath("pieces.csv");
  WriteFile(path, text);
  const CsvOptions options = {.columns = {0, 1}};
  EXPECT_EQ(LoadCsv(path, options).ToVector<float>(), numbers);
  EXPECT_THAT(LoadCsvWords(path, 2), ElementsAre("a\n,b"));
  WriteFile(path + ".gz", Gzip(text));
  EXPECT_EQ(LoadCsv(path + ".gz", options).ToVector<float>(), numbers);
}

TEST(CsvTest, RefusesOptionsThatMakeNoSense) {
  const auto error = [](const CsvOptions& options) {
    const absl::Status status = TryParseCsv("1,2\n", "t.csv", options).status();
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
  EXPECT_EQ(error({.dtype = DType::kI64, .missing = CsvMissing::kMean}),
            "csv: means are no i64 (want missing to be another, or the dtype to be f32 or f64)");
  EXPECT_EQ(error({.dtype = DType::kU8, .missing = CsvMissing::kValue, .missing_value = 256}),
            "csv: missing_value is 256 (want a whole number from 0 to 255 (u8))");
  EXPECT_THAT(error({.dtype = DType::kI64, .missing = CsvMissing::kValue, .missing_value = 0x1p63}),
              HasSubstr("want a whole number from -9223372036854775808 to 9223372036854775807"));
  EXPECT_EQ(error({.missing = CsvMissing::kValue, .missing_value = 16777217}),
            "csv: missing_value is 16777217 (want a number that f32 does not round)");
  EXPECT_THAT(error({.missing = CsvMissing::kValue, .missing_value = 1e300}),
              HasSubstr("missing_value is 1e+300"));
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
  EXPECT_THAT(TryLoadCsv(path)->ToVector<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(TryLoadCsv(path, {.limits = {.max_total_bytes = 7}}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace firn::io
