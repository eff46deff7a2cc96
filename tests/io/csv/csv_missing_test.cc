// What becomes of cells that hold nothing, and which cells those are.
#include <limits>
#include <string>

#include "firn/io/csv/csv.h"
#include "firn/io/csv/csv_status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Error(const std::string& text, const CsvOptions& options) {
  const absl::StatusOr<Tensor> t = TryParseCsv(text, "t.csv", options);
  EXPECT_EQ(t.status().code(), absl::StatusCode::kDataLoss);
  return std::string(t.status().message());
}

TEST(CsvMissingTest, MissingCellsAreErrorsOrWhatIsAskedFor) {
  const std::string text = "1,2\n,4\n5,?\n NA ,nan\n9,10\n";
  for (const std::string cell :
       {"", "\"\"", "?", "NA", "N/A", "null", "None", "NaN", "-nan", " "}) {
    EXPECT_EQ(Error("1,2\n3," + cell + "\n", {}),
              "t.csv: line 2, column 1 (counted from 0): expected a number, got " +
                  (cell == "\"\"" || cell == " " ? "\"\"" : "\"" + cell + "\"") +
                  " (CsvOptions::missing says what missing cells become)");
  }
  using M = CsvMissing;
  EXPECT_THAT(TryParseCsv(text, "t.csv", {.missing = M::kDropRow})->ToVector<float>(),
              ElementsAre(1, 2, 9, 10));
  EXPECT_THAT(
      TryParseCsv(text, "t.csv", {.missing = M::kValue, .missing_value = -1})->ToVector<float>(),
      ElementsAre(1, 2, -1, 4, 5, -1, -1, -1, 9, 10));
  EXPECT_THAT(TryParseCsv(",1", "t.csv", {.missing = M::kValue})->ToVector<float>(),
              ElementsAre(::testing::IsNan(), 1));
  const float mean0 = 5, mean1 = static_cast<float>(16.0 / 3);
  EXPECT_THAT(TryParseCsv(text, "t.csv", {.missing = M::kMean})->ToVector<float>(),
              ElementsAre(1, 2, mean0, 4, 5, mean1, mean0, mean1, 9, 10));
  EXPECT_THAT(TryParseCsv("7,1\n,2\n", "t.csv",
                          {.dtype = DType::kI64, .missing = M::kValue, .missing_value = 16777217})
                  ->ToVector<int64_t>(),
              ElementsAre(7, 1, 16777217, 2));
  EXPECT_THAT(Error("1,\n2,\n", {.missing = M::kMean}),
              HasSubstr("column 1 (counted from 0): expected a number to take the mean of"));
  // What is missing is the same in every type, and in quotes.
  for (const char* const cell : {"NAN", "+nan", "\" NA \"", "\"\t\""}) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kI64, DType::kI32, DType::kU8}) {
      const absl::StatusOr<Tensor> t =
          TryParseCsv(std::string("7,") + cell + "\n", "t.csv",
                      {.dtype = dtype, .missing = M::kValue, .missing_value = 5});
      ASSERT_TRUE(t.ok()) << t.status();
      EXPECT_THAT(t->ToVector<double>(), ElementsAre(7, 5)) << cell;
    }
  }
  // All cells of a row that is left out are checked, in any order of its columns.
  for (const char* const row : {"?,x", "x,?"}) {
    EXPECT_THAT(Error("1,2\n" + std::string(row) + "\n", {.missing = M::kDropRow}),
                HasSubstr("expected a number, got \"x\""))
        << row;
  }
  EXPECT_THAT(
      TryParseCsv("?,1,2\n3,?,?\n4,5,6\n", "t.csv", {.missing = M::kDropRow})->ToVector<float>(),
      ElementsAre(4, 5, 6));
  // Cells that hold something are not missing, whatever the policy.
  EXPECT_THAT(Error("1\nx\n", {.missing = M::kDropRow}), HasSubstr("line 2"));
  EXPECT_THAT(Error("1\nNA\n", {.missing = M::kDropRow, .missing_words = {""}}),
              HasSubstr("line 2"));
  // Blanks do not matter on either side.
  EXPECT_THAT(TryParseCsv("1,-\n2,\" \"\n3,4\n", "t.csv",
                          {.missing = M::kDropRow, .missing_words = {" - ", " "}})
                  ->ToVector<float>(),
              ElementsAre(3, 4));
}

TEST(CsvMissingTest, MeansAreThoseOfAnyNumbers) {
  const auto mean = [](const std::string& text, DType dtype) {
    const Tensor t =
        *TryParseCsv(text + "?\n", "t.csv", {.dtype = dtype, .missing = CsvMissing::kMean});
    return t.ToVector<double>().back();
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    EXPECT_EQ(mean("inf\n1\n", dtype), kInfinity);
    EXPECT_EQ(mean("1\n-inf\n2\n", dtype), -kInfinity);
    EXPECT_THAT(mean("inf\n-inf\n", dtype), ::testing::IsNan());
  }
  EXPECT_EQ(mean("-1.7e308\n1.7e308\n", DType::kF64), 0);
  EXPECT_EQ(mean("-1.5e308\n1.5e308\n1.5e308\n1.5e308\n", DType::kF64), 7.5e307);
  // Shares of it would add up to something else.
  EXPECT_EQ(mean("0.1\n0.1\n0.1\n0.1\n0.1\n0.1\n", DType::kF64), 0.1);
}

TEST(CsvMissingTest, MissingWordsAreErrorsToo) {
  CsvOptions options = {.categories = {{0, {"a", "b"}}}};
  EXPECT_THAT(Error("a,1\n?,2\n", options),
              HasSubstr("line 2, column 0 (counted from 0): expected a "
                        "word, got \"?\" (CsvOptions::missing"));
  options.missing = CsvMissing::kDropRow;
  EXPECT_THAT(TryParseCsv("b,1\n?,2\na,3\n", "t.csv", options)->ToVector<float>(),
              ElementsAre(1, 1, 0, 3));
  options.missing = CsvMissing::kMean;
  EXPECT_THAT(Error("a,1\n?,2\n", options), HasSubstr("words have no mean"));
  options.categories[0] = {"a", "?"};
  EXPECT_THAT(TryParseCsv("a,1\n?,2\n", "t.csv", options)->ToVector<float>(),
              ElementsAre(0, 1, 1, 2));
  const std::string path = TempPath("missing.csv");
  WriteFile(path, "b\nNA\na\n");
  EXPECT_THAT(testing::ErrorOf([&] { LoadCsvWords(path, 0); }),
              HasSubstr("line 2, column 0 (counted from 0): expected a word, got \"NA\""));
  EXPECT_THAT(LoadCsvWords(path, 0, {.missing = CsvMissing::kDropRow}), ElementsAre("a", "b"));
  WriteFile(path + ".quoted", "b\n\" NA \"\na\n");
  EXPECT_THAT(LoadCsvWords(path + ".quoted", 0, {.missing = CsvMissing::kDropRow}),
              ElementsAre("a", "b"));
  EXPECT_THAT(LoadCsvWords(path, 0, {.missing_words = {}}), ElementsAre("NA", "a", "b"));
}

TEST(CsvMissingTest, WhatTakesThePlaceOfMissingCellsIsHeldToWhatCellsAre) {
  const auto read = [](double value, const CsvOptions& options = {}) {
    CsvOptions with = options;
    with.missing = CsvMissing::kValue;
    with.missing_value = value;
    const absl::StatusOr<Tensor> t = TryParseCsv("?,1\n", "t.csv", with);
    EXPECT_TRUE(t.ok()) << t.status();
    return t.ok() ? t->ToVector<double>()[0] : 0;
  };
  EXPECT_EQ(read(16777217, {.round = true}), 16777216);
  EXPECT_EQ(read(16777217, {.dtype = DType::kF64}), 16777217);
  EXPECT_EQ(read(-16777218), -16777218);
  // These are no whole numbers within the exact range, so they may be rounded.
  EXPECT_EQ(read(-1e30), static_cast<double>(-1e30f));
  EXPECT_EQ(read(0.1), static_cast<double>(0.1f));
  EXPECT_EQ(read(std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
  EXPECT_EQ(read(3e9, {.dtype = DType::kI64}), 3e9);
}

}  // namespace
}  // namespace firn::io
