// CsvRows reads words, types and missing cells as LoadCsv does.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "firn/io/csv/csv.h"
#include "firn/io/csv/csv_status.h"
#include "firn/io/data/csv_rows.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;

DatasetPtr Open(const std::string& text, const CsvRowsOptions& options = {}) {
  const std::string path = TempPath("options.csv");
  WriteFile(path, text);
  return CsvRows(path, options);
}
std::string Error(const std::string& text, const CsvRowsOptions& options) {
  return ErrorOf([&] {
    const DatasetPtr rows = Open(text, options);
    for (int64_t i = 0; i < rows->size(); ++i) rows->Get(i);
  });
}

TEST(CsvRowsOptionsTest, WordsBecomePlacesOrZerosAndOnes) {
  const std::string text = "x__0,x__1:color,y:kind\n1,red,b\n2,\"blue\",a\n";
  CsvRowsOptions options = {.one_hot = {"x__1:color"}, .dtypes = {{"y", DType::kI64}}};
  options.categories["y"] = {"a", "b"};
  options.categories["x__1:color"] = {"red", "green", "blue"};
  DatasetPtr rows = Open(text, options);
  EXPECT_THAT(rows->Get(0)[0].ToVector<float>(), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(rows->Get(1)[0].ToVector<float>(), ElementsAre(2, 0, 0, 1));
  EXPECT_EQ(rows->Get(0)[1].spec().ToString(), "i64 [1] on cpu");
  EXPECT_EQ(rows->Get(0)[1].Item<int64_t>(), 1);
  EXPECT_EQ(rows->Get(1)[1].Item<int64_t>(), 0);
  EXPECT_THAT(Error("x__0,x__1:color,y:kind\n1,red,c\n", options),
              HasSubstr("options.csv: line 2, column 2 (\"y:kind\"): expected one of \"a\", \"b\", "
                        "got \"c\""));
  // The columns of the file, if none are listed.
  options.categories.erase("x__1:color");
  rows = Open(text, options);
  EXPECT_THAT(rows->Get(0)[0].ToVector<float>(), ElementsAre(1, 0, 1));
  EXPECT_THAT(rows->Get(1)[0].ToVector<float>(), ElementsAre(2, 1, 0));
  EXPECT_THAT(Error("x,y\n?,1\n", {.one_hot = {"x"}}),
              HasSubstr("line 2, column 0 (\"x\"): expected a word, got \"?\" "
                        "(CsvRowsOptions::missing says what missing cells become)"));
  EXPECT_THAT(Error("x,y\n?,1\n", {.one_hot = {"x"}, .missing = CsvMissing::kDropRow}),
              HasSubstr("options.csv: column 0 (\"x\"): expected words, got none"));
  // Columns that are not read may hold anything.
  const std::string passed_over = "x,y,#z\n1,?,\n2,,?\n";
  for (const CsvColumn& column : {CsvColumn("y"), CsvColumn("#z")}) {
    const CsvRowsOptions of_others = {.variables = {"x"}, .one_hot = {column}};
    EXPECT_EQ(Open(passed_over, of_others)->Get(1)[0].Item(), 2);
  }
  EXPECT_THAT(Open("x\nred\n?\nblue\n", {.one_hot = {0}, .missing = CsvMissing::kValue})
                  ->Get(1)[0]
                  .ToVector<float>(),
              ElementsAre(0, 0));
}

TEST(CsvRowsOptionsTest, VariablesHaveTypesOfTheirOwn) {
  const std::string text = "x__0,x__1,id,z\n1,2,9007199254740993,0.1\n";
  const DatasetPtr rows =
      Open(text, {.dtypes = {{"x", DType::kU8}, {"id", DType::kI64}, {3, DType::kF64}}});
  const Sample row = rows->Get(0);
  EXPECT_EQ(row[0].spec().ToString(), "u8 [2] on cpu");
  EXPECT_THAT(row[0].ToVector<uint8_t>(), ElementsAre(1, 2));
  EXPECT_EQ(row[1].Item<int64_t>(), 9007199254740993);
  EXPECT_EQ(row[2].spec().ToString(), "f64 [1] on cpu");
  EXPECT_EQ(row[2].Item<double>(), 0.1);
  EXPECT_THAT(Error("x__0,x__1\n1,2\n", {.dtypes = {{0, DType::kI64}}}),
              HasSubstr("options.csv: line 1, of which \"x__0\" is to be i64 and \"x__1\" f32: "
                        "they are one variable, which has one type"));
  EXPECT_THAT(Error("x,id\n1,3.5\n", {.dtypes = {{"id", DType::kI64}}}),
              HasSubstr("line 2, column 1 (\"id\"): expected a number that i64 can hold, got "
                        "\"3.5\" (CsvRowsOptions::dtype takes wider types"));
  EXPECT_THAT(Error("x,id\n1,2\n", {.dtypes = {{"idd", DType::kI64}}}),
              HasSubstr("line 1, which has no column named \"idd\" (CsvRowsOptions::dtypes names "
                        "it); the nearest is \"id\""));
  EXPECT_THAT(Error("x,id\n1,2\n", {.one_hot = {2}}),
              HasSubstr("which has 2 columns: CsvRowsOptions::one_hot names column 2"));
  EXPECT_THAT(Error("x,id\n1,2\n", {.dtypes = {{"id", DType::kBF16}}}),
              HasSubstr("csv_rows: dtypes of column \"id\" is bf16"));
  // The shortest text of the largest f32, whose value is above it.
  EXPECT_EQ(Open("x\n3.4028235e38\n")->Get(0)[0].Item(), 0x1.fffffep127);
}

TEST(CsvRowsOptionsTest, MissingCellsBecomeMeans) {
  const DatasetPtr rows = Open("x,y\n1,10\n?,20\n\"6\",nan\n", {.missing = CsvMissing::kMean});
  ASSERT_EQ(rows->size(), 3);
  EXPECT_EQ(rows->Get(1)[0].Item(), 3.5);
  EXPECT_EQ(rows->Get(2)[1].Item(), 15);
  // Only variables that are read count; the others may hold anything.
  EXPECT_EQ(Open("x,y\n1,cat\n,dog\n", {.variables = {"x"}, .missing = CsvMissing::kMean})
                ->Get(1)[0]
                .Item(),
            1);
  const auto error = [](const std::string& text, const CsvRowsOptions& with = {}) {
    CsvRowsOptions options = with;
    options.missing = CsvMissing::kMean;
    return ErrorOf([&] { Open(text, options); });  // when it is opened
  };
  EXPECT_THAT(error("x,y\n1,\n2,\n"),
              HasSubstr("options.csv: column 1 (\"y\"): expected a number to take the mean of"));
  EXPECT_THAT(error("x\n1\ncat\n"), HasSubstr("options.csv: line 3, column 0 (\"x\"): expected a "
                                              "number or the path"));
  EXPECT_THAT(error("x\n1\n\"2\n"), HasSubstr("expected a closing quote"));
  EXPECT_THAT(error("x,y\n1,2\n1\n"), HasSubstr("line 3: expected 2 columns, got 1"));
  EXPECT_THAT(error("x\n1\n?\n", {.dtype = DType::kI64}), HasSubstr("means are no i64"));
  EXPECT_THAT(
      error("x\n1\n?\n", {.dtypes = {{"x", DType::kI64}}}),
      HasSubstr("line 3, column 0 (\"x\"): expected a number, got \"?\": means are no i64"));
  EXPECT_THAT(error("x\na\n?\n", {.one_hot = {"x"}}), HasSubstr("words have no mean"));
  EXPECT_THAT(
      error("x\n1\n", {.missing_value = 5}),
      HasSubstr("csv_rows: missing_value is 5, which has no use where missing asks for means"));
}

TEST(CsvRowsOptionsTest, RowsWithMissingCellsAreLeftOut) {
  CsvRowsOptions options = {.missing = CsvMissing::kDropRow};
  const std::string text = "x,y\n1,\"1\"\n?,2\n3,\n\"4\",nan\n5,\"5\"\n?,\n";
  const DatasetPtr rows = Open(text, options);
  ASSERT_EQ(rows->size(), 2);
  EXPECT_EQ(rows->Get(0)[0].Item(), 1);
  EXPECT_EQ(rows->Get(1)[1].Item(), 5);
  EXPECT_THAT(ErrorOf([&] { rows->Get(2); }), HasSubstr("row 2 is outside [0, 2)"));
  options.variables = {"x"};
  EXPECT_EQ(Open(text, options)->size(), 4);
  options.variables = {};
  // The columns that are left have to make sense, and line numbers are those of the file.
  EXPECT_THAT(ErrorOf([&] { Open("x,y\n1,2\n?,cat\n", options); }),
              HasSubstr("line 3, column 1 (\"y\"): expected a number or the path"));
  EXPECT_THAT(ErrorOf([&] { Open("x,y\n1,2\n?,../a.png\n", options); }),
              HasSubstr("inside the folder of this file"));
  const DatasetPtr late = Open("x,y\n?,1\n1,no.npy\n?,no.npy\n", options);
  ASSERT_EQ(late->size(), 1);
  EXPECT_THAT(ErrorOf([&] { late->Get(0); }), HasSubstr("options.csv: line 3, column 1 (\"y\"): "));
  EXPECT_EQ(Open("x,y\n?,1\n", options)->size(), 0);
}

TEST(CsvRowsOptionsTest, WordsHaveLimits) {
  std::string text = "x\n";
  for (int i = 0; i < 100; ++i) text += "word" + std::to_string(i) + "\n";
  EXPECT_THAT(Error(text, {.one_hot = {0}, .limits = {.max_metadata_bytes = 1000}}),
              HasSubstr("different words of more than the 1000 bytes allowed"));
  EXPECT_THAT(Error(text, {.one_hot = {0}, .limits = {.max_total_bytes = 399}}),
              HasSubstr("line 2, column 0 (\"x\"): more than the 399 bytes allowed for a row"));
  EXPECT_EQ(Error(text, {.one_hot = {0}, .limits = {.max_total_bytes = 400}}), "");
}

// A text with everything about some of the numbers of a tensor.
std::string Shown(const Tensor& t, int64_t from, int64_t n) {
  std::string shown = std::string(DTypeName(t.dtype())) + ":";
  const bool whole = t.dtype() == DType::kI64;
  const std::vector<int64_t> exact = whole ? t.ToVector<int64_t>() : std::vector<int64_t>();
  const std::vector<double> numbers = whole ? std::vector<double>() : t.ToVector<double>();
  for (auto i = static_cast<size_t>(from); i < static_cast<size_t>(from + n); ++i) {
    shown += whole ? " " + std::to_string(exact[i]) : absl::StrFormat(" %a", numbers[i]);
  }
  return shown;
}

// Each column of each row; empty if the table is refused.
using Table = std::optional<std::vector<std::vector<std::string>>>;

Table ByLoadCsv(const std::string& path, const CsvOptions& options) {
  const absl::StatusOr<StateDict> columns = TryLoadCsvColumns(path, options);
  if (!columns.ok()) return std::nullopt;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, column] : *columns) {
    rows.resize(static_cast<size_t>(column.size(0)));
    const int64_t width = rows.empty() ? 0 : column.num_elements() / column.size(0);
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i].push_back(Shown(column, static_cast<int64_t>(i) * width, width));
    }
  }
  return rows;
}

Table ByCsvRows(const std::string& path, const CsvRowsOptions& options, std::string* error) {
  std::vector<std::vector<std::string>> rows;
  *error = ErrorOf([&] {
    const DatasetPtr table = CsvRows(path, options);
    rows.resize(static_cast<size_t>(table->size()));
    for (size_t i = 0; i < rows.size(); ++i) {
      for (const Tensor& t : table->Get(static_cast<int64_t>(i))) {
        rows[i].push_back(Shown(t, 0, t.num_elements()));
      }
    }
  });
  return error->empty() ? Table(rows) : std::nullopt;
}

// A heading, and rows whose cells mostly fit the options.
std::string RandomTable(std::mt19937* random) {
  // Picks one in three from all texts, the others from the first three.
  const auto pick = [&](const std::vector<const char*>& from) {
    const bool any = (*random)() % 3 == 0;
    return std::string(from[(*random)() % (any ? from.size() : size_t{3})]);
  };
  std::string text = "a,b,color,id\n";
  for (auto rows = (*random)() % 6; rows > 0; --rows) {
    text += pick({"1", "-2.5", "1e3", "0.1", "+7", "\"3\"", " 4 ", "16777217", "1e39", "1e-50", "",
                  "?", "3.4028235e38", "-0", "inf", "9007199254740993", "0.30000001192092896"});
    text += "," + pick({"1", "2", "0.5", "", "NA", "nan", "\" NA \"", "1.7e308", "-1.7e308"});
    text += "," + pick({"red", "blue", "\"a, b\"", "\"c\"\"d\"", "red", " blue ", "?", "\"\"", ""});
    text += "," + pick({"1", "2", "255", "0", "7.0", "null", "256", "-1", "1.5"});
    text += pick({"\n", "\n", "\r\n", "\r"});
  }
  for (auto changes = (*random)() % 3; changes > 0; --changes) {
    constexpr size_t kHeading = 13;
    const size_t at = kHeading + (*random)() % (text.size() - kHeading + 1);
    const std::string put = pick({"\"", ",", "\n", "1", " ", "\r", "x", "?"});
    text = text.substr(0, at) + put + text.substr(std::min(text.size(), at + (*random)() % 2));
  }
  return text;
}

TEST(CsvRowsOptionsTest, TheValuesAreThoseOfLoadCsv) {
  std::mt19937 random(20261127);
  const std::string path = TempPath("both.csv");
  int taken = 0, refused = 0, found = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = RandomTable(&random);
    WriteFile(path, text);
    CsvOptions o = {.heading = true};
    const auto chance = [&](unsigned n) { return random() % n == 0; };
    constexpr DType kTypes[] = {DType::kF32, DType::kF64, DType::kI64, DType::kI32, DType::kU8};
    o.dtype = kTypes[chance(3) ? random() % 5 : random() % 2];
    if (chance(2)) o.dtypes["id"] = kTypes[random() % 5];
    if (chance(3)) o.dtypes["color"] = kTypes[random() % 5];
    o.round = !chance(3);
    constexpr CsvMissing kMissing[] = {CsvMissing::kValue, CsvMissing::kMean, CsvMissing::kDropRow};
    o.missing = kMissing[random() % 3];
    if (chance(10)) o.missing = CsvMissing::kError;
    if (o.missing == CsvMissing::kValue && !chance(3))
      o.missing_value = static_cast<double>(random() % 3);
    o.categories["color"] = {"red", "a, b", "blue", "c\"d"};
    if (chance(3)) o.categories["color"].pop_back();
    if (chance(2)) o.one_hot = {"color"};
    CsvRowsOptions r = {.categories = o.categories,
                        .one_hot = o.one_hot,
                        .dtype = o.dtype,
                        .dtypes = o.dtypes,
                        .round = o.round,
                        .missing = o.missing};
    if (o.missing == CsvMissing::kValue) r.missing_value = o.missing_value;
    if (chance(3) && !o.one_hot.empty()) {
      // The words that it finds are those of LoadCsvWords.
      const auto words = TryLoadCsvWords(path, "color", o);
      o.categories["color"] = words.ok() ? *words : std::vector<std::string>{"no word at all"};
      r.categories = {};
      ++found;
    }
    if (o.missing == CsvMissing::kError && text.find("nan") != std::string::npos) continue;
    std::string error;
    const Table expected = ByLoadCsv(path, o), got = ByCsvRows(path, r, &error);
    ASSERT_EQ(expected.has_value(), got.has_value())
        << text << "LoadCsv: " << TryLoadCsvColumns(path, o).status() << "\nCsvRows: " << error;
    if (expected) {
      ASSERT_EQ(*expected, *got) << text;
    }
    ++(expected && !expected->empty() ? taken : refused);
  }
  EXPECT_GT(taken, 500);
  EXPECT_GT(refused, 500);
  EXPECT_GT(found, 200);
}

}  // namespace
}  // namespace firn::io
