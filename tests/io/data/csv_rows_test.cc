// Headers, cells of each kind, the places in messages, and errors for hostile files.
#include "firn/io/data/csv_rows.h"

#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/data/rows.h"
#include "firn/io/npy/npy.h"
#include "firn/io/wav/wav.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::StatusOf;

// Opens a table in a folder of its own, with files that cells may name.
class CsvRowsTest : public ::testing::Test {
 protected:
  CsvRowsTest() : folder_(TempPath("csv_rows")) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/in");
    WriteFile(folder_ + "/in/a.png",
              EncodePng(FromVector(std::vector<uint8_t>{0, 51, 255, 102}, {1, 2, 2})));
    WriteFile(folder_ + "/in/deep.png",
              EncodePng(FromVector(std::vector<int32_t>{65535, 13107}, {1, 1, 2})));
    WriteNpy(folder_ + "/in/a.npy", FromValues<int64_t>({5, 6}));
    WriteFile(folder_ + "/in/a.csv", "1,2\n3,4\n5,6\n");
    WriteWav(folder_ + "/in/a.wav", {FromVector(std::vector<float>{0, 0.5, -0.5}, {1, 3}), 8000});
  }
  std::string Write(const std::string& text) const {
    WriteFile(folder_ + "/t.csv", text);
    return folder_ + "/t.csv";
  }
  DatasetPtr Open(const std::string& text, const CsvRowsOptions& options = {}) const {
    return CsvRows(Write(text), options);
  }
  // The error of opening the file, or of its first row.
  std::string Error(const std::string& text, const CsvRowsOptions& options = {}) const {
    return ErrorOf([&] { Open(text, options)->Get(0); });
  }

  const std::string folder_;
};

TEST_F(CsvRowsTest, ReadsNumbersAndVectors) {
  const DatasetPtr rows = Open("x__0:a,y:label,#note,x__1\r\n1,7,hello,+2.5\r\n3e1, 8 ,,-nan\n\n");
  EXPECT_EQ(rows->size(), 2);
  EXPECT_THAT(rows->variables(), ElementsAre("x", "y"));
  const Sample row = rows->Get(0);
  EXPECT_EQ(row[0].spec().ToString(), "f32 [2] on cpu");
  EXPECT_THAT(row[0].ToVector<float>(), ElementsAre(1, 2.5));
  EXPECT_EQ(row[1].spec().ToString(), "f32 [1] on cpu");
  EXPECT_THAT(row[1].ToVector<float>(), ElementsAre(7));
  EXPECT_THAT(rows->Get(1)[0].ToVector<float>(), ElementsAre(30, ::testing::IsNan()));
  EXPECT_THAT(rows->Get(1)[1].ToVector<float>(), ElementsAre(8));
  EXPECT_THAT(ErrorOf([&] { rows->Get(2); }), HasSubstr("row 2 is outside [0, 2)"));
  // A vector of one element, and labels and indices of any form.
  EXPECT_THAT(Open("x__first:a:b\n4")->Get(0)[0].ToVector<float>(), ElementsAre(4));
}

TEST_F(CsvRowsTest, ReadsFilesFromItsFolder) {
  const DatasetPtr rows = Open(
      "i:image,n,c,w,d\n"
      "in/a.png,./in/a.npy,in\\a.csv,\"in/a.wav\",in/deep.png\n");
  const Sample row = rows->Get(0);
  EXPECT_EQ(row[0].shape(), (Shape{1, 2, 2}));
  EXPECT_THAT(row[0].ToVector<float>(), ElementsAre(0, 0.2f, 1, 0.4f));
  EXPECT_TRUE(row[1].Equals(FromValues<int64_t>({5, 6})));
  EXPECT_EQ(row[2].shape(), (Shape{3, 2}));
  EXPECT_EQ(row[3].spec().ToString(), "f32 [1, 3] on cpu");
  EXPECT_THAT(row[4].ToVector<float>(), ElementsAre(1, 0.2f));

  const Sample raw = Open("i,d\nin/a.png,in/deep.png\n", {.normalize = false})->Get(0);
  EXPECT_TRUE(raw[0].Equals(FromVector(std::vector<uint8_t>{0, 51, 255, 102}, {1, 2, 2})));
  EXPECT_TRUE(raw[1].Equals(FromVector(std::vector<int32_t>{65535, 13107}, {1, 1, 2})));
}

TEST_F(CsvRowsTest, FilesInColumnsOfOneVariableAreStacked) {
  EXPECT_THAT(Open("x__0,x__1\nin/a.npy,in/a.npy\n")->Get(0)[0].ToVector<int64_t>(),
              ElementsAre(5, 6, 5, 6));
  EXPECT_THAT(Error("x__0,x__1\nin/a.npy,in/a.png\n"), HasSubstr("expected files of one shape"));
  EXPECT_THAT(Error("x__0,x__1\n1,in/a.png\n"), HasSubstr("expected numbers or files, got both"));
}

TEST_F(CsvRowsTest, ReadsTheVariablesThatAreAskedFor) {
  const DatasetPtr rows = Open("x,y,z\n1,no number.xyz,3\n", {.variables = {"z", "x"}});
  EXPECT_THAT(rows->variables(), ElementsAre("z", "x"));
  EXPECT_THAT(rows->Get(0)[0].ToVector<float>(), ElementsAre(3));
  EXPECT_THAT(Error("x,y\n1,2\n", {.variables = {"z"}}), HasSubstr("called z, got x, y"));
  EXPECT_THAT(Error("x,y\n1,2\n", {.variables = {"x", "x"}}), HasSubstr("names x twice"));
}

TEST_F(CsvRowsTest, ChoosesAmongVeryManyVariables) {
  std::string names, numbers;
  for (int64_t c = 0; c < 30'000; ++c) {
    absl::StrAppend(&names, c == 0 ? "" : ",", "v", c);
    absl::StrAppend(&numbers, c == 0 ? "" : ",", c);
  }
  const auto begin = std::chrono::steady_clock::now();
  const DatasetPtr rows = Open(names + "\n" + numbers + "\n");
  // Comparing each name with each takes many times as long.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_EQ(rows->Get(0)[29'999].Item(), 29'999);
}

TEST_F(CsvRowsTest, ARowHasNoMoreThanTheBytesAllowed) {
  const auto row = [&](const std::string& text, int64_t bytes) {
    return Error(text, {.limits = {.max_total_bytes = bytes}});
  };
  // A picture takes 16 bytes as f32, and pictures of one variable are copied once more.
  EXPECT_EQ(row("x,y\nin/a.png,in/a.png\n", 32), "");
  EXPECT_THAT(row("x,y\nin/a.png,in/a.png\n", 31),
              HasSubstr("line 2, column 1 (\"y\"): more than the 31 bytes allowed for a row"));
  EXPECT_EQ(row("x__0,x__1\nin/a.png,in/a.png\n", 64), "");
  EXPECT_THAT(row("x__0,x__1\nin/a.png,in/a.png\n", 63), HasSubstr("more than the 63 bytes"));
}

TEST_F(CsvRowsTest, NumbersAreThoseOfPython) {
  const auto number = [&](const std::string& text) {
    return Open("x\n" + text + "\n")->Get(0)[0].Item<double>();
  };
  EXPECT_EQ(number("1e-400"), 0);
  EXPECT_TRUE(std::signbit(number("-1e-400")));
  EXPECT_EQ(number("+5"), 5);
  for (const char* const text : {"+-5", "++5", "+", "-+5", "+ 5"}) {
    EXPECT_THAT(Error(std::string("x\n") + text + "\n"), HasSubstr("expected a number")) << text;
  }
}

TEST_F(CsvRowsTest, TakesReadersOfTheProgramsOwn) {
  CsvRowsOptions options;
  options.readers[".mat"] = [](const std::string& path) {
    return FromValues({static_cast<float>(ReadFile(path).size())});
  };
  WriteFile(folder_ + "/in/a.MAT", "12345");
  EXPECT_THAT(Open("x\nin/a.MAT\n", options)->Get(0)[0].ToVector<float>(), ElementsAre(5));
}

TEST_F(CsvRowsTest, LinesEndInAnyWayAndStandInQuotes) {
  for (const std::string text : {"x,y\r1,2\r3,4\r", "x,y\r1,2\r3,4", "x,y\r\n1,2\n3,4\r"}) {
    const DatasetPtr rows = Open(text);
    ASSERT_EQ(rows->size(), 2) << text;
    EXPECT_EQ(rows->Get(0)[1].Item(), 2);
    EXPECT_EQ(rows->Get(1)[0].Item(), 3);
  }
  const std::string quoted =
      "\xEF\xBB\xBF\"x\",\"#a\nnote\"\n1,\"two\r\nlines\"\n2,\n3,\"\n\n\n\"\n4,\n";
  const DatasetPtr rows = Open(quoted);
  ASSERT_EQ(rows->size(), 4);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(rows->Get(i)[0].Item<int64_t>(), i + 1);
  EXPECT_THAT(ErrorOf([&] { Open(quoted + "bad,\n")->Get(4); }), HasSubstr("line 11, column 0"));
  EXPECT_THAT(Error(quoted + "\n1,\n"), HasSubstr("line 11: expected a row, got an empty line"));
}

TEST_F(CsvRowsTest, WholeNumbersAreExactOrErrors) {
  EXPECT_THAT(Error("x\n16777217\n"),
              HasSubstr("expected a number that f32 can hold, got \"16777217\" "
                        "(CsvRowsOptions::dtype takes wider types"));
  EXPECT_EQ(Open("x\n16777217\n", {.round = true})->Get(0)[0].Item(), 16777216);
  const Tensor f64 = Open("x__0,x__1\n289203891,0.1\n", {.dtype = DType::kF64})->Get(0)[0];
  EXPECT_THAT(f64.ToVector<double>(), ElementsAre(289203891, 0.1));
  const CsvRowsOptions i64 = {.dtype = DType::kI64};
  EXPECT_EQ(Open("x\n9007199254740993\n", i64)->Get(0)[0].Item<int64_t>(), 9007199254740993);
  EXPECT_THAT(Error("x\n1.5\n", i64), HasSubstr("expected a number that i64 can hold"));
  EXPECT_EQ(Error("x\n1\n", {.dtype = DType::kBF16}),
            "csv_rows: dtype is bf16 (want f32, f64, i64, i32 or u8)");
}

TEST_F(CsvRowsTest, MissingCellsAreErrorsOrAValue) {
  for (const char* const cell : {"?", "NA", "\"\"", "null"}) {
    const std::string text = std::string("x,y\n") + cell + ",1\n";
    EXPECT_THAT(Error(text), HasSubstr("CsvRowsOptions::missing says what missing cells become"));
    EXPECT_EQ(Open(text, {.missing_value = -1})->Get(0)[0].Item(), -1);
  }
  EXPECT_EQ(Open("x\nnan\n", {.missing_value = 5})->Get(0)[0].Item(), 5);
  EXPECT_EQ(Open("x,y\n,1\n", {.dtype = DType::kI64, .missing_value = 5})->Get(0)[0].Item(), 5);
  // What is missing is the same in every type, and in quotes.
  for (const char* const cell : {"NAN", "+nan", "\" NA \"", "\"\t\""}) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kI64}) {
      const std::string text = std::string("x,y\n") + cell + ",1\n";
      EXPECT_EQ(Open(text, {.dtype = dtype, .missing_value = 5})->Get(0)[0].Item(), 5) << cell;
    }
  }
  EXPECT_THAT(Error("x\nNAN\n", {.dtype = DType::kI64}), HasSubstr("::missing says what"));
  // missing_value must satisfy the same conditions as numbers in cells.
  EXPECT_THAT(Error("x\n1\n", {.dtype = DType::kI64, .missing_value = 0.5}),
              HasSubstr("missing_value is 0.5 (want a whole number from -9223372036854775808"));
  EXPECT_EQ(Error("x\n1\n", {.missing_value = 16777217}),
            "csv_rows: missing_value is 16777217 (want a number that f32 does not round)");
  EXPECT_THAT(Error("x\n1\n", {.missing_value = 1e300}), HasSubstr("missing_value is 1e+300"));
  EXPECT_EQ(Open("x,y\n,1\n", {.round = true, .missing_value = 16777217})->Get(0)[0].Item(),
            16777216);
}

TEST_F(CsvRowsTest, NamesFileLineAndColumn) {
  const std::string file = folder_ + "/t.csv";
  const auto error = [&](const std::string& text) { return Error(text); };
  EXPECT_EQ(error("x,y\n1,cat\n"),
            "csv_rows: " + file +
                ": line 2, column 1 (\"y\"): expected a number or the path of a .bmp, .csv, .gif, "
                ".jpeg, .jpg, .npy, .png, .tif, .tiff or .wav file, got \"cat\"");
  EXPECT_THAT(error("x,y\n1,in/none.png\n"), HasSubstr("none.png"));
  EXPECT_THAT(error("x,y\n1\n"), HasSubstr("line 2, expected 2 columns, got 1"));
  EXPECT_THAT(error("x,y\n1,\"2\n"), HasSubstr("line 2, column 1 (counted from 0): expected a cl"));
  EXPECT_THAT(error("x,y\n1,\n"), HasSubstr("column 1 (\"y\"): expected a number"));
  EXPECT_THAT(error("x\n1e50\n"), HasSubstr("expected a number that f32 can hold, got \"1e50\""));
  EXPECT_THAT(error("x\n1e999\n"), HasSubstr("expected a number that f32 can hold"));
  EXPECT_THAT(error("x,y\n1,2\n\n3,4\n"),
              HasSubstr(file + ": line 3: expected a row, got an empty"));
  WriteFile(folder_ + "/in/bad.png", "no picture");
  EXPECT_THAT(error("x\nin/bad.png\n"), HasSubstr("t.csv: line 2, column 0 (\"x\"): "));
  EXPECT_THAT(error("x\nin/bad.png\n"), HasSubstr("bad.png: offset 0, signature"));
  WriteFile(folder_ + "/in/bad.csv", "1,2\n3,four\n");
  EXPECT_THAT(error("x\nin/bad.csv\n"), HasSubstr("bad.csv: line 2, column 1"));
}

TEST_F(CsvRowsTest, RefusesHeadersThatMakeNoSense) {
  EXPECT_THAT(Error(""), HasSubstr("t.csv: line 1: expected names of columns"));
  EXPECT_THAT(Error("\nx\n1\n"), HasSubstr("line 1: expected a row, got an empty line"));
  EXPECT_THAT(Error("x,\n1,2\n"),
              HasSubstr("line 1, column 1 (counted from 0): expected the name"));
  EXPECT_THAT(Error("__0\n1\n"), HasSubstr("expected the name of a variable, got \"__0\""));
  EXPECT_THAT(Error("x,x:other\n1,2\n"), HasSubstr("expected each column once, got \"x\" again"));
  EXPECT_THAT(Error("x__0,x__0\n1,2\n"), HasSubstr("got \"x__0\" again"));
  EXPECT_THAT(Error("x__0,x\n1,2\n"), HasSubstr("always with an index or never"));
  EXPECT_THAT(Error("#a\n1\n"), HasSubstr("got only columns to pass over"));
  EXPECT_THAT(Error("\x1f\x8b zip"), HasSubstr("got gzip: unpack it"));
  EXPECT_THAT(Error("\xff\xfex"), HasSubstr("save it as UTF-8"));
  EXPECT_THAT(Error("x\n12345\n", {.limits = {.max_metadata_bytes = 4}}),
              HasSubstr("line 2: more than the 4 bytes allowed"));
}

TEST_F(CsvRowsTest, HasNoFilesOutsideOfItsFolder) {
  WriteFile(TempPath("secret.csv"), "42\n");
  const std::string absolute = TempPath("secret.csv");
  for (const std::string& path :
       {absolute, std::string("../secret.csv"), std::string("in/../../secret.csv"),
        std::string("in\\..\\..\\secret.csv")}) {
    const absl::Status status = StatusOf([&] { Open("x\n" + path + "\n")->Get(0); });
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << path;
    EXPECT_THAT(std::string(status.message()), HasSubstr("inside the folder of this file"));
    EXPECT_EQ(Open("x\n" + path + "\n", {.allow_outside = true})->Get(0)[0].Item(), 42);
  }
  EXPECT_THAT(Error("x\nin/..a.npy\n"), HasSubstr("..a.npy"));  // inside, but missing
  EXPECT_THAT(Error(std::string("x\nin/a.png\0.png\n", 17)), HasSubstr("zero byte"));
}

TEST_F(CsvRowsTest, ReadsNothingFromTheWeb) {
  EXPECT_THAT(Error("x\nhttp://example.com/a.png\n"), HasSubstr("http is not read"));
  EXPECT_THAT(Error("x\ns3://bucket/a.png\n"), HasSubstr("s3 is not read"));
  EXPECT_THAT(ErrorOf([] { CsvRows("https://example.com/t.csv"); }),
              HasSubstr("https is not read"));
  EXPECT_EQ(StatusOf([&] { CsvRows(folder_ + "/none.csv"); }).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(ErrorOf([&] { CsvRows(folder_); }), HasSubstr("is not a regular file"));
}

TEST_F(CsvRowsTest, AFileThatBecomesShorterIsAnErrorOfItsRows) {
  const DatasetPtr rows = Open("x\n1\n2\n3\n");
  std::filesystem::resize_file(folder_ + "/t.csv", 5);
  EXPECT_EQ(rows->Get(0)[0].Item(), 1);
  EXPECT_THAT(ErrorOf([&] { rows->Get(2); }), HasSubstr("line 4, "));
}

TEST_F(CsvRowsTest, LinesAreFoundAcrossBlocksOfTheFile) {
  std::string text = "x,#filler\n";
  const int64_t n = 700;
  for (int64_t i = 0; i < n; ++i) {
    text += std::to_string(i) + "," + std::string(static_cast<size_t>(5000 + i % 7), 'f') + "\n";
  }
  ASSERT_GT(text.size(), size_t{3} << 20);
  const DatasetPtr rows = Open(text);
  ASSERT_EQ(rows->size(), n);
  for (int64_t i = n - 1; i >= 0; --i) ASSERT_EQ(rows->Get(i)[0].Item<int64_t>(), i);
}

TEST_F(CsvRowsTest, EmptyLinesAreFoundAroundTheEndOfABlock) {
  constexpr size_t kBlock = 1 << 17;
  for (const std::string end : {"\r", "\n", "\r\n"}) {
    const std::string head = "x,#filler" + end + "1,";
    for (size_t at = kBlock - 6; at < kBlock + 4; ++at) {  // where the empty line begins
      const std::string row = head + std::string(at - head.size() - end.size(), 'f') + end;
      EXPECT_THAT(Error(row + end + "2,g" + end),
                  HasSubstr("t.csv: line 3: expected a row, got an empty line"))
          << at;
      EXPECT_EQ(Open(row + "2,g" + end)->size(), 2) << at;
      EXPECT_EQ(Open(row + end)->size(), 1) << at;
    }
  }
}

TEST_F(CsvRowsTest, TrainsFromThreads) {
  const DatasetPtr data =
      Pick(Open("x,y\nin/a.png,1\nin/a.png,0\nin/a.png,2\n"), {.target_is_class = true});
  DataLoader loader(data, {.batch = 2, .prefetch = 2});
  std::vector<int64_t> labels;
  for (auto [x, y] : loader) {
    EXPECT_EQ(x.size(1), 1);
    for (const int64_t label : y.ToVector<int64_t>()) labels.push_back(label);
  }
  EXPECT_THAT(labels, ElementsAre(1, 0, 2));
}

TEST_F(CsvRowsTest, ALoaderGivesAllVariables) {
  DataLoader loader(Open("image,boxes__0,boxes__1,labels\nin/a.png,1,2,0\nin/a.png,3,4,1\n"),
                    {.batch = 2});
  for (auto [image, boxes, labels] : loader.As<3>()) {
    EXPECT_EQ(image.shape(), (Shape{2, 1, 2, 2}));
    EXPECT_THAT(boxes.ToVector<float>(), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(labels.ToVector<float>(), ElementsAre(0, 1));
  }
  EXPECT_EQ((*loader.begin())["boxes"].shape(), (Shape{2, 2}));
  DataLoader uneven(Open("x\nin/a.png\nin/deep.png\n"), {.batch = 2});
  EXPECT_THAT(ErrorOf([&] { uneven.begin(); }), HasSubstr("t.csv, line 3 is f32 [1, 1, 2]"));
}

}  // namespace
}  // namespace firn::io
