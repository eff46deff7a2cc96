// What firn dataset leaves unchanged, and whether its files can be read with names of all kinds.
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/data/csv_rows.h"
#include "firn/io/data/rows.h"
#include "firn/io/image/image.h"
#include "firn/io/npy/npy.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/state_dict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/dataset_command.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using io::ReadFile;
using io::WriteFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTable[] = "x,y\n1,0\n2,1\n3,0\n4,1\n";

TEST(DatasetFilesTest, FilesOfNoCacheAreNotReplaced) {
  const std::string folder = Folder("no_cache"), own = folder + "/own";
  fs::create_directories(own);
  WriteFile(folder + "/t.csv", kTable);
  for (const char* const name : {"/order.csv", "/original.csv"}) {
    WriteFile(own + name, "of mine");
    for (const char* const force : {"--normalize", "--force"}) {
      EXPECT_THAT(Dataset({"convert", folder + "/t.csv", own, force}).err,
                  HasSubstr(std::string(name + 1) + ": is no part of a cache"));
      EXPECT_EQ(ReadFile(own + name), "of mine");
    }
    fs::remove(own + name);
  }
  Json({"convert", folder + "/t.csv", own});
  EXPECT_EQ(ReadFile(own + "/original.csv"), kTable);
}

TEST(DatasetFilesTest, SplittingDoesNotReplaceTheSource) {
  const std::string folder = Folder("split_source"), cache = folder + "/d";
  WriteFile(folder + "/t.csv", kTable);
  Json({"convert", folder + "/t.csv", cache});
  for (const std::string& source : {cache, cache + "/original.csv"}) {
    EXPECT_THAT(
        Dataset({"split", source, "--ratio", "1,1", "-o", cache + "/", folder + "/e", "--force"})
            .err,
        HasSubstr("/ is, or holds, the source"));
    EXPECT_EQ(ReadFile(cache + "/original.csv"), kTable);
    EXPECT_EQ(Json({"inspect", cache})["rows"], 4);
  }
}

// Two pictures of one channel.
Tensor Pictures(int first, int second) {
  return FromVector(std::vector<uint8_t>{static_cast<uint8_t>(first), static_cast<uint8_t>(second)},
                    {2, 1, 1, 1});
}

TEST(DatasetFilesTest, VariablesOfSimilarNamesHaveFilesOfTheirOwn) {
  const std::string folder = Folder("similar");
  io::WriteNpz(folder + "/n.npz", {{"a_b", Pictures(1, 2)},
                                   {"a-b", Pictures(3, 4)},
                                   {"a_b_1", Pictures(5, 6)},
                                   {"a b", Pictures(7, 8)}});
  Json({"convert", folder + "/n.npz", folder + "/t.csv"});
  const io::DatasetPtr rows = io::CsvRows(folder + "/t.csv", {.normalize = false});
  EXPECT_THAT(rows->variables(), ElementsAre("a_b", "a-b", "a_b_1", "a b"));
  for (int v = 0; v < 4; ++v) {
    EXPECT_EQ(rows->Get(0)[static_cast<size_t>(v)].Item<int>(), 2 * v + 1);
    EXPECT_EQ(rows->Get(1)[static_cast<size_t>(v)].Item<int>(), 2 * v + 2);
  }
}

TEST(DatasetFilesTest, NumbersAreReadAsTheyAreWritten) {
  const std::string folder = Folder("numbers");
  const std::vector<float> f32 = {123456792, 16777218, 1e30f, 0.1f, -3, 16777215};
  const std::vector<double> f64 = {289203891, 9007199254740994, 1e300, 0.1, -7, 123456789012345680};
  const std::vector<int64_t> i64 = {9007199254740993, -1, 289203891, 0, 1, 16777217};
  io::WriteNpz(folder + "/n.npz", {{"f", FromVector(f32)}, {"d", FromVector(f64)}});
  io::WriteNpz(folder + "/i.npz", {{"i", FromVector(i64)}});
  Json({"convert", folder + "/n.npz", folder + "/f.csv"});
  Json({"convert", folder + "/i.npz", folder + "/i.csv"});
  const auto rows = [&](const std::string& table, DType dtype, const std::string& variable) {
    return io::CsvRows(folder + table, {.variables = {variable}, .dtype = dtype});
  };
  for (size_t k = 0; k < f32.size(); ++k) {
    const auto row = static_cast<int64_t>(k);
    EXPECT_EQ(rows("/f.csv", DType::kF32, "f")->Get(row)[0].Item<float>(), f32[k]);
    EXPECT_EQ(rows("/f.csv", DType::kF64, "d")->Get(row)[0].Item<double>(), f64[k]);
    EXPECT_EQ(rows("/i.csv", DType::kI64, "i")->Get(row)[0].Item<int64_t>(), i64[k]);
  }
  // The error for numbers that f32 cannot hold names options of the command line.
  const std::string err = Dataset({"inspect", folder + "/i.csv"}).err;
  EXPECT_THAT(err, HasSubstr("f32 can hold, got \"9007199254740993\" (--f64 has more digits"));
  EXPECT_EQ(Dataset({"inspect", folder + "/f.csv", "--f64"}).status, 0);
}

TEST(DatasetFilesTest, FilesOfAnotherTableStay) {
  const std::string folder = Folder("again");
  io::WriteNpz(folder + "/n.npz", {{"x", Pictures(1, 2)}});
  io::WriteNpz(folder + "/m.npz", {{"x", Pictures(3, 4)}});
  Json({"convert", folder + "/n.npz", folder + "/again.csv"});
  fs::rename(folder + "/again.csv", folder + "/train.csv");
  const auto first = [&](const std::string& table) {
    const io::DatasetPtr rows = io::CsvRows(folder + table, {.normalize = false});
    return std::pair(rows->Get(0)[0].Item<int>(), rows->Get(1)[0].Item<int>());
  };
  Json({"convert", folder + "/m.npz", folder + "/again.csv"});
  EXPECT_EQ(first("/train.csv"), std::pair(1, 2));
  EXPECT_EQ(first("/again.csv"), std::pair(3, 4));
  // Rows of the source are read while those of the result are written.
  Json({"convert", folder + "/train.csv", folder + "/again.csv", "--shuffle", "--seed", "1",
        "--force"});
  EXPECT_EQ(first("/train.csv"), std::pair(1, 2));
  EXPECT_EQ(std::set<int>({first("/again.csv").first, first("/again.csv").second}),
            std::set<int>({1, 2}));
}

TEST(DatasetFilesTest, PathsOfImagesAreReadAsTheyAreWritten) {
  const std::string photos = Folder("odd"), out = Folder("odd_out");
  const std::vector<std::string> classes = {" dog", "b,\"c", "cat\t", "d\ne", "x"};
  for (size_t k = 0; k < classes.size(); ++k) {
    AddImage(photos + "/" + classes[k] + "/1.png", static_cast<int>(k), {1, 2, 2});
  }
  AddImage(photos + "/x/caf\xE9.png", 10, {1, 2, 2});  // Latin-1
  AddImage(photos + "/x/caf\xE8.png", 11, {1, 2, 2});
  AddImage(photos + "/x/caf_.png", 12, {1, 2, 2});
  AddImage(photos + "/x/y\\z.png", 13, {1, 2, 2});
  Json({"create", photos, out, "--width", "2", "--height", "2", "--channels", "1"});
  const io::DatasetPtr rows = io::CsvRows(out + "/train.csv", {.normalize = false});
  std::vector<int> labels;
  std::set<int> pixels;
  for (int64_t i = 0; i < rows->size(); ++i) {
    const io::Sample row = rows->Get(i);
    labels.push_back(row[1].Item<int>());
    pixels.insert(row[0].ToVector<int>()[0]);
  }
  EXPECT_THAT(labels, ElementsAre(0, 1, 2, 3, 4, 4, 4, 4, 4));
  EXPECT_THAT(pixels, ElementsAre(0, 1, 2, 3, 4, 10, 11, 12, 13));
}

TEST(DatasetFilesTest, FilesOfTablesOfAnyNameAreFound) {
  const std::string folder = Folder("odd_table"), table = folder + "/a\\b\n.csv";
  io::WriteNpz(folder + "/n.npz", {{"x", Pictures(1, 2)}});
  Json({"convert", folder + "/n.npz", table});
  EXPECT_EQ(io::CsvRows(table, {.normalize = false})->Get(1)[0].Item<int>(), 2);
}

TEST(DatasetFilesTest, NamesOfVariablesAreReadAsTheyAreWritten) {
  const std::string folder = Folder("names");
  io::WriteNpz(folder + "/n.npz", {{"x", Ones({2})}, {"x ", Zeros({2})}});
  for (const char* const to : {"/t.csv", "/cache"}) {
    Json({"convert", folder + "/n.npz", folder + to});
    const nlohmann::json there = Json({"inspect", folder + to})["variables"];
    EXPECT_EQ(there[0]["name"], "x");
    EXPECT_EQ(there[1]["name"], "x ");
  }
}

TEST(DatasetFilesTest, CreatingReplacesNoImages) {
  const std::string photos = Folder("create_over"), out = Folder("create_over_out");
  AddImage(photos + "/a/1.png", 7, {1, 2, 2});
  WriteFile(photos + "/a/2.png", "no picture");
  AddImage(out + "/a/1.png", 200, {1, 2, 2});
  std::vector<std::string> line = {"create", photos,     out, "--width",
                                   "2",      "--height", "2", "--skip-damaged"};
  const Outcome o = Dataset(line);
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("a/1.png: expected nothing there (--force"));
  EXPECT_EQ(io::ReadImage(out + "/a/1.png").ToVector<int>()[0], 200);
  line.emplace_back("--force");
  EXPECT_EQ(Dataset(line).status, 0);
  EXPECT_EQ(io::ReadImage(out + "/a/1.png").ToVector<int>()[0], 7);
}

TEST(DatasetFilesTest, RatiosThatAddUpToInfinityAreRefused) {
  const std::string folder = Folder("ratios");
  WriteFile(folder + "/t.csv", kTable);
  const Outcome o = Dataset({"split", folder + "/t.csv", "--ratio", "1e308,1e308", "-o",
                             folder + "/a.csv", folder + "/b.csv"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("the ratios add up to inf"));
}

}  // namespace
}  // namespace firn::cli
