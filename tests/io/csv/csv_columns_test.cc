// Columns of a table that have types of their own.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/csv/csv.h"
#include "firn/io/csv/csv_status.h"
#include "firn/tensor/state_dict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHouses[] =
    "id,price,color,rooms\n"
    "9007199254740993,0.1,red,3\n"
    "16777217,2.5,blue,255\n";

std::vector<std::string> NamesOf(const StateDict& columns) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : columns) names.push_back(name);
  return names;
}

std::string Error(const std::string& text, const CsvOptions& options,
                  absl::StatusCode code = absl::StatusCode::kDataLoss) {
  const absl::Status status = TryParseCsvColumns(text, "t.csv", options).status();
  EXPECT_EQ(status.code(), code) << status;
  return std::string(status.message());
}
std::string Refused(const std::string& text, const CsvOptions& options) {
  return Error(text, options, absl::StatusCode::kInvalidArgument);
}

TEST(CsvColumnsTest, EachColumnHasItsType) {
  CsvOptions options = {.one_hot = {"color"},
                        .dtypes = {{"id", DType::kI64}, {"price", DType::kF64}, {3, DType::kU8}}};
  options.categories["color"] = {"blue", "red"};
  const std::string path = TempPath("houses.csv");
  WriteFile(path, kHouses);
  const StateDict table = LoadCsvColumns(path, options);
  EXPECT_THAT(NamesOf(table), ElementsAre("id", "price", "color", "rooms"));
  EXPECT_EQ(table["id"].spec().ToString(), "i64 [2] on cpu");
  EXPECT_THAT(table["id"].ToVector<int64_t>(), ElementsAre(9007199254740993, 16777217));
  EXPECT_EQ(table["price"].spec().ToString(), "f64 [2] on cpu");
  EXPECT_THAT(table["price"].ToVector<double>(), ElementsAre(0.1, 2.5));
  EXPECT_EQ(table["color"].spec().ToString(), "f32 [2, 2] on cpu");
  EXPECT_THAT(table["color"].ToVector<float>(), ElementsAre(0, 1, 1, 0));
  EXPECT_EQ(table["rooms"].spec().ToString(), "u8 [2] on cpu");
  EXPECT_THAT(table["rooms"].ToVector<uint8_t>(), ElementsAre(3, 255));
  WriteFile(path + ".gz", Gzip(kHouses));
  EXPECT_TRUE(LoadCsvColumns(path + ".gz", options)["id"].Equals(table["id"]));
  // Words become their places, which are numbers, too: losses of classes take them.
  options.one_hot = {};
  options.dtypes["color"] = DType::kI64;
  EXPECT_THAT(LoadCsvColumns(path, options)["color"].ToVector<int64_t>(), ElementsAre(1, 0));
}

TEST(CsvColumnsTest, AreCalledWhatTheyWereAskedFor) {
  EXPECT_THAT(NamesOf(*TryParseCsvColumns("1,2\n", "t.csv")), ElementsAre("0", "1"));
  EXPECT_THAT(NamesOf(*TryParseCsvColumns("a,b\n1,2\n", "t.csv", {.heading = true})),
              ElementsAre("a", "b"));
  const StateDict table = *TryParseCsvColumns("a,x,x\n1,2,3\n", "t.csv", {.columns = {2, "a", 1}});
  EXPECT_THAT(NamesOf(table), ElementsAre("2", "a", "1"));
  EXPECT_EQ(table["2"].Item(), 3);
  EXPECT_EQ(Refused("a,x,x\n1,2,3\n", {.heading = true}),
            "t.csv: line 1, of which columns 1 and 2 would both be called \"x\" "
            "(CsvOptions::columns takes places, and each once)");
  EXPECT_THAT(Refused("1,2\n", {.columns = {1, 1}}), HasSubstr("both be called \"1\""));
  EXPECT_EQ(TryParseCsvColumns("a,b\n", "t.csv", {.columns = {"b"}})->size(), 1);
  EXPECT_EQ((*TryParseCsvColumns("a,b\n", "t.csv", {.columns = {"b"}}))["b"].shape(), (Shape{0}));
  EXPECT_EQ(Error("", {}), "t.csv: expected columns, got no line");
}

TEST(CsvColumnsTest, ATensorHasOneType) {
  const std::string path = TempPath("types.csv");
  WriteFile(path, kHouses);
  const Tensor ids = LoadCsv(path, {.columns = {"id"}, .dtypes = {{"id", DType::kI64}}});
  EXPECT_EQ(ids.spec().ToString(), "i64 [2, 1] on cpu");
  EXPECT_THAT(ids.ToVector<int64_t>(), ElementsAre(9007199254740993, 16777217));
  const CsvOptions two = {.columns = {"price", "id"}, .dtypes = {{"id", DType::kI64}}};
  EXPECT_EQ(testing::ErrorOf([&] { LoadCsv(path, two); }),
            "csv: " + path +
                ": line 1, of which \"price\" is to be f32 and \"id\" i64: a tensor has one type "
                "(LoadCsvColumns gives a tensor for each column)");
  // Types of columns that are not read do not matter.
  EXPECT_EQ(LoadCsv(path, {.columns = {"price"}, .dtypes = {{"id", DType::kI64}}}).dtype(),
            DType::kF32);
  const CsvOptions ids_alone = {.columns = {"id"}, .dtypes = {{"id", DType::kI64}}};
  EXPECT_EQ(TryParseCsv("", "t.csv", ids_alone)->spec().ToString(), "i64 [0, 1] on cpu");
}

TEST(CsvColumnsTest, ErrorsNameLineColumnAndText) {
  const CsvOptions ids = {.dtypes = {{"id", DType::kI64}}};
  EXPECT_EQ(Error("x,id\n1,2\n1,3.5\n", ids),
            "t.csv: line 3, column 1 (\"id\"): expected a whole number from -9223372036854775808 "
            "to 9223372036854775807 (i64), got \"3.5\" (CsvOptions::dtype takes wider types, "
            "::round the nearest number)");
  EXPECT_THAT(Error("x,id\n1,2\n1,cat\n", ids),
              HasSubstr("line 3, column 1 (\"id\"): expected a number, got \"cat\""));
  EXPECT_THAT(Error("x,id\n16777217,2\n", ids),
              HasSubstr("line 2, column 0 (\"x\"): expected a number that f32 does not round"));
  EXPECT_EQ(Refused("x,id\n1,2\n", {.dtypes = {{"idd", DType::kI64}}}),
            "t.csv: line 1, which has no column named \"idd\" (CsvOptions::dtypes names it); the "
            "nearest is \"id\"");
  EXPECT_THAT(Refused("1,2\n", {.dtypes = {{2, DType::kI64}}}),
              HasSubstr("CsvOptions::dtypes names column 2 (want 0 to 1)"));
  EXPECT_THAT(Refused("x,id\n1,2\n", {.dtypes = {{1, DType::kI64}, {"id", DType::kI64}}}),
              HasSubstr("column 1 twice in CsvOptions::dtypes"));
  EXPECT_EQ(Refused("x,id\n1,2\n", {.dtypes = {{"id", DType::kBF16}}}),
            "csv: dtypes of column \"id\" is bf16 (want f32, f64, i64, i32 or u8)");
}

TEST(CsvColumnsTest, MissingCellsAreThoseOfTheirType) {
  const std::string text = "x,id\n1,7\n,8\n5,\n";
  CsvOptions options = {.dtypes = {{"id", DType::kI64}}, .missing = CsvMissing::kDropRow};
  StateDict table = *TryParseCsvColumns(text, "t.csv", options);
  EXPECT_THAT(table["x"].ToVector<float>(), ElementsAre(1));
  EXPECT_THAT(table["id"].ToVector<int64_t>(), ElementsAre(7));
  options = {.dtypes = options.dtypes, .missing = CsvMissing::kValue, .missing_value = -1};
  table = *TryParseCsvColumns(text, "t.csv", options);
  EXPECT_THAT(table["x"].ToVector<float>(), ElementsAre(1, -1, 5));
  EXPECT_THAT(table["id"].ToVector<int64_t>(), ElementsAre(7, 8, -1));
  // A missing_value that only one type can hold, and kMean, apply only to the columns that have
  // missing cells.
  options.missing_value = 0.5;
  EXPECT_THAT(Error(text, options),
              HasSubstr("line 4, column 1 (\"id\"): expected a whole number from "
                        "-9223372036854775808 to 9223372036854775807 (i64), got \"\", and "
                        "missing_value is 0.5"));
  EXPECT_THAT((*TryParseCsvColumns("x,id\n,7\n", "t.csv", options))["x"].ToVector<float>(),
              ElementsAre(0.5));
  options.missing = CsvMissing::kMean;
  EXPECT_THAT(
      Error(text, options),
      HasSubstr("line 4, column 1 (\"id\"): expected a number, got \"\": means are no i64"));
  EXPECT_THAT(
      (*TryParseCsvColumns("x,id\n1,7\n,8\n5,9\n", "t.csv", options))["x"].ToVector<float>(),
      ElementsAre(1, 3, 5));
  EXPECT_THAT(Error("x,id\n,7\n", options),
              HasSubstr("t.csv: column 0 (\"x\"): expected a number to take the mean of"));
}

TEST(CsvColumnsTest, RowsAreLeftOutOfAllTypes) {
  const CsvOptions options = {.dtypes = {{1, DType::kI64}, {2, DType::kF64}, {3, DType::kI64}},
                              .missing = CsvMissing::kDropRow};
  std::string text;
  std::vector<int64_t> kept;
  for (int i = 0; i < 64; ++i) {
    for (int c = 0; c < 4; ++c) {
      text += (i >> c & 1) == 1 ? "" : std::to_string(4 * i + c);
      text += c < 3 ? "," : i >> 4 == 3 ? ",\n" : ",0\n";
    }
    if ((i & 15) == 0 && i >> 4 != 3) kept.push_back(4 * i);
  }
  CsvOptions with = options;
  with.columns = {0, 1, 2, 3, 4};
  const StateDict table = *TryParseCsvColumns(text, "t.csv", with);
  for (int c = 0; c < 4; ++c) {
    std::vector<int64_t> expected = kept;
    for (int64_t& number : expected) number += c;
    EXPECT_EQ(table[std::to_string(c)].ToVector<int64_t>(), expected) << c;
  }
}

TEST(CsvColumnsTest, TypesHavePlacesForAllWords) {
  CsvOptions options = {.dtype = DType::kU8};
  for (int i = 0; i < 256; ++i) options.categories[0].push_back("w" + std::to_string(i));
  EXPECT_EQ(TryParseCsv("w255\n", "t.csv", options)->Item(), 255);
  options.categories[0].push_back("w256");
  EXPECT_EQ(TryParseCsv("w255\n", "t.csv", options).status().message(),
            "t.csv: line 1, of whose column 0 CsvOptions::categories lists 257 words: u8 has "
            "places for 256");
  options.one_hot = {0};
  EXPECT_EQ(TryParseCsv("w256\n", "t.csv", options)->shape(), (Shape{1, 257}));
}

}  // namespace
}  // namespace firn::io
