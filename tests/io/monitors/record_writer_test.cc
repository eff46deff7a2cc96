#include "firn/io/monitors/record_writer.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "firn/io/monitors/record_reader.h"
#include "firn/io/monitors/record_reader_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

// Values that are hard to write, as rows of an index and a value.
std::vector<std::vector<RecordValue>> HardRows() {
  const std::vector<RecordValue> values = {0.1,
                                           1.0,
                                           -0.0,
                                           1e300,
                                           5e-324,
                                           kNan,
                                           kInfinity,
                                           -kInfinity,
                                           true,
                                           false,
                                           int64_t{1} << 62,
                                           -7,
                                           RecordValue(),
                                           "",
                                           "text",
                                           "a \"quote\", a comma",
                                           "two\nlines\r\n",
                                           "nan",
                                           "12",
                                           "true",
                                           "\t\x01",
                                           "\xc3\xa4\xf0\x9f\x98\x80",
                                           "Infinite",
                                           "+5",
                                           " blanks around "};
  std::vector<std::vector<RecordValue>> rows;
  for (size_t i = 0; i < values.size(); ++i) rows.push_back({i, values[i]});
  return rows;
}

TEST(RecordValueTest, KnowsItsKind) {
  EXPECT_EQ(RecordValue(3).kind(), RecordValue::Kind::kInteger);
  EXPECT_EQ(RecordValue(3).integer(), 3);
  EXPECT_EQ(RecordValue(3).number(), 3.0);
  EXPECT_EQ(RecordValue(true).number(), 1.0);
  EXPECT_EQ(RecordValue("x").text(), "x");
  EXPECT_TRUE(std::isnan(RecordValue("x").number()));
  EXPECT_EQ(RecordValue(kNan), RecordValue(kNan));
  EXPECT_NE(RecordValue(3), RecordValue(3.0));
}

TEST(CsvWriterTest, WritesTextThatReadsBackAsTheSame) {
  CsvWriter csv(TempPath("hard.csv"), {"step", "a \"value\""});
  for (const auto& row : HardRows()) csv.Write(row);
  const Records records = LoadRecords(csv.path());
  EXPECT_THAT(records.columns, ElementsAre("step", "a \"value\""));
  EXPECT_EQ(records.rows, HardRows());
}

TEST(CsvWriterTest, WritesPlainTextPlainly) {
  CsvWriter csv(TempPath("plain.csv"), {"step", "loss", "note"});
  csv.Write({1, 0.25, "warm-up"});
  csv.Write({2, kNan, "a, b"});
  csv.Write({3, -kInfinity, RecordValue()});
  EXPECT_EQ(ReadFile(csv.path()), "step,loss,note\n1,0.25,warm-up\n2,nan,\"a, b\"\n3,-inf,\n");
}

TEST(JsonLinesWriterTest, WritesTextThatReadsBackAsTheSame) {
  JsonLinesWriter json(TempPath("hard.jsonl"));
  for (const auto& row : HardRows()) json.Write({{"step", row[0]}, {"a \"value\"", row[1]}});
  const Records records = LoadRecords(json.path());
  EXPECT_THAT(records.columns, ElementsAre("step", "a \"value\""));
  EXPECT_EQ(records.rows, HardRows());
}

TEST(JsonLinesWriterTest, WritesPlainJson) {
  JsonLinesWriter json(TempPath("plain.jsonl"));
  json.Write({{"step", 1}, {"loss", 0.25}, {"note", "x\n"}});
  json.Write({{"step", 2}, {"loss", kNan}, {"ok", true}, {"none", {}}});
  EXPECT_EQ(ReadFile(json.path()),
            "{\"step\": 1, \"loss\": 0.25, \"note\": \"x\\u000a\"}\n"
            "{\"step\": 2, \"loss\": \"NaN\", \"ok\": true, \"none\": null}\n");
  const Records records = LoadRecords(json.path());
  EXPECT_THAT(records.columns, ElementsAre("step", "loss", "note", "ok", "none"));
  EXPECT_EQ(records.rows[0][3], RecordValue());
}

TEST(RecordWriterTest, GoesOnAfterTheLastWholeRecordThatStays) {
  const std::string csv_path = TempPath("run.csv"), json_path = TempPath("run.jsonl");
  WriteFile(csv_path, "step,note\n1,\"two\nlines\"\n2,b\n3,\"c");
  WriteFile(json_path, "{\"step\": 1}\n{\"step\": 2}\n{\"st");
  CsvWriter csv(csv_path, {"step", "note"}, {.resume_at = 3});
  JsonLinesWriter json(json_path, {.resume_at = 2});
  EXPECT_EQ(ReadFile(csv_path), "step,note\n1,\"two\nlines\"\n2,b\n");
  EXPECT_EQ(ReadFile(json_path), "{\"step\": 1}\n");
  csv.Write({3, "d"});
  json.Write({{"step", 2}});
  EXPECT_EQ(ReadFile(csv_path), "step,note\n1,\"two\nlines\"\n2,b\n3,d\n");
  EXPECT_EQ(ReadFile(json_path), "{\"step\": 1}\n{\"step\": 2}\n");
  // A writer that was killed within the heading.
  WriteFile(csv_path, "step,no");
  CsvWriter again(csv_path, {"step", "note"}, {.resume_at = 0});
  EXPECT_EQ(ReadFile(csv_path), "step,note\n");
}

TEST(RecordWriterTest, LeavesTheFileOfAnotherProgramAlone) {
  const std::string path = TempPath("foreign.jsonl"), text = "{\"config\": {\"lr\": 0.1}}\n";
  WriteFile(path, text);
  EXPECT_THAT(ErrorOf([&] { JsonLinesWriter(path, {.resume_at = 0}); }),
              HasSubstr("foreign.jsonl"));
  EXPECT_EQ(ReadFile(path), text);
}

TEST(RecordWriterTest, NumbersBeyondWholeOnesStayPositive) {
  CsvWriter csv(TempPath("large.csv"), {"n"});
  csv.Write({uint64_t{1} << 63});
  EXPECT_EQ(ReadFile(csv.path()), "n\n9223372036854775808.0\n");
}

// Small files whose rows would take gigabytes.
TEST(RecordReaderTest, CountsValuesBeforeItKeepsThem) {
  std::string names = "{\"a\": 1";
  for (int i = 0; i < 100; ++i) names += ", \"" + std::to_string(i) + "\": 1";
  std::string json = names + "}\n";
  for (int i = 0; i < 1000; ++i) json += "{}\n";
  const LoadLimits limits = {.max_metadata_bytes = 1 << 20};
  EXPECT_EQ(TryParseRecords(json, "x.jsonl", limits).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(TryParseRecords(std::string(100000, ',') + "\n", "x.csv", limits).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(RecordWriterTest, RefusesWhatDoesNotFitAndKeepsTheFile) {
  const std::string path = TempPath("other.csv");
  WriteFile(path, "a,b\n1,2\n");
  EXPECT_THAT(ErrorOf([&] {
                CsvWriter(path, {"a", "c"}, {.resume_at = 0});
              }),
              HasSubstr("the file has the columns \"a,b\\u000a\" (want \"a,c\\u000a\")"));
  EXPECT_EQ(ReadFile(path), "a,b\n1,2\n");
  EXPECT_THAT(ErrorOf([&] { CsvWriter(path, {}); }), HasSubstr("there are no columns"));
  EXPECT_THAT(ErrorOf([&] { CsvWriter(path, {"a", "a"}); }), HasSubstr("two columns"));
  EXPECT_EQ(ReadFile(path), "a,b\n1,2\n");
  CsvWriter csv(path, {"a", "b"}, {.resume_at = 5});
  EXPECT_THAT(ErrorOf([&] { csv.Write({1}); }), HasSubstr("1 values (want 2"));
  JsonLinesWriter json(TempPath("other.jsonl"));
  EXPECT_THAT(ErrorOf([&] { json.Write({{"a", 1}, {"a", 2}}); }), HasSubstr("stands twice"));
  EXPECT_EQ(ReadFile(json.path()), "");
  std::filesystem::remove(path);
  EXPECT_THAT(ErrorOf([&] { csv.Write({1, 2}); }), HasSubstr("was removed or replaced"));
}

TEST(RecordReaderTest, NamesWhatIsDamaged) {
  EXPECT_THAT(TryParseRecords("a,b\n1\n", "x.csv").status().ToString(),
              HasSubstr("x.csv: record 1: expected 2 fields, got 1"));
  EXPECT_THAT(
      TryParseRecords("a\n\"1\"2\n", "x.csv").status().ToString(),
      HasSubstr("column 0 (counted from 0): expected a separator after the quotes, got \"2\""));
  const std::pair<const char*, const char*> damaged[] = {
      {"[1]", "expected an object, got an array"},
      {"1", "expected an object, got another value"},
      {"{\"a\": [1]}", "expected a string, a number, true, false or null, got an array"},
      {"{\"a\": {}}", "expected a string, a number, true, false or null, got an object"},
      {"{\"a\": NaN}", "byte 7: expected JSON"},
      {"{\"a\": +1}", "byte 7: expected JSON"},
      {"{\"a\": 1 \"b\": 2}", "expected '}'"},
      {"{\"a\": 1,}", "expected string literal"},
      {"{\"a\": 1} x", "byte 10: expected JSON"},
      {"{\"a\": 1, \"a\": 2}", "\"a\" twice"},
      {"{\"a\": \"\\x\"}", "forbidden character after backslash"},
      {"{\"a\": \"\\ud800\"}", "surrogate"},
      {"{\"a\": \"\\udc00\"}", "surrogate"},
      {"{\"a\": \"\\u12g4\"}", "4 hex digits"},
      {"{\"a\": \"b}", "missing closing quote"},
      {"{\"a\": \"\xff\"}", "UTF-8"},
      {"", "unexpected end of input"}};
  for (const auto& [line, expected] : damaged) {
    EXPECT_THAT(TryParseRecords(std::string(line) + "\n", "x.jsonl").status().ToString(),
                HasSubstr(expected))
        << line;
  }
  EXPECT_THAT(ErrorOf([] { LoadRecords("none.csv"); }), HasSubstr("none.csv"));
  EXPECT_THAT(TryParseRecords("", "x.txt").status().ToString(), HasSubstr(".csv or .jsonl"));
  EXPECT_EQ(TryParseRecords("{\"a\": 1}\n", "x.jsonl", {.max_metadata_bytes = 8}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(RecordReaderTest, ReadsEscapes) {
  const Records records = *TryParseRecords(
      "{ \"a\" : \"\\u00e4\\ud83d\\ude00\\/\\b\\u0041\" , \"b\":-1.5e3}\r\n", "x.jsonl");
  EXPECT_EQ(records.rows[0][0].text(), "\xc3\xa4\xf0\x9f\x98\x80/\bA");
  EXPECT_EQ(records.rows[0][1].number(), -1500);
}

TEST(RecordReaderTest, MakesSeriesOfColumns) {
  // A first record with a number in it is not a heading.
  const Records numbers = *TryParseRecords("0,5,x\n1,6,\n", "x.csv");
  EXPECT_THAT(numbers.columns, ::testing::ElementsAre("0", "1", "2"));
  EXPECT_EQ(numbers.rows.size(), 2u);
  EXPECT_THAT(SeriesOf(numbers).at(0).y, ::testing::ElementsAre(5, 6));
  EXPECT_THAT(TryParseRecords("\"1\",a\n", "x.csv")->columns, ::testing::ElementsAre("1", "a"));
  const Records records = *TryParseRecords("step,loss,note,acc\n1,0.5,x,\n2,0.25,y,1\n", "x.csv");
  const std::vector<Series> series = SeriesOf(records);
  ASSERT_EQ(series.size(), 2u);
  EXPECT_EQ(series[0].name, "loss");
  EXPECT_THAT(series[0].y, ElementsAre(0.5, 0.25));
  EXPECT_THAT(series[1].x, ElementsAre(2));
}

}  // namespace
}  // namespace firn::io
