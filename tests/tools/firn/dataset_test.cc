// firn dataset: from folders of images to tables, caches and back.
#include "firn/io/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/io/data/csv_rows.h"
#include "firn/io/data/rows.h"
#include "firn/io/image/image.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/io/parameters.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/io/full_disk.h"
#include "tests/io/test_files.h"
#include "tests/tools/firn/dataset_command.h"
#include "tools/firn/data_files.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;
using io::ReadFile;
using io::TempPath;
using io::WriteFile;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Not;
using ::testing::SizeIs;

// Five cats and five dogs of different sizes.
std::string Photos() {
  const std::string folder = Folder("photos");
  for (int i = 0; i < 5; ++i) {
    AddImage(folder + "/cat/" + std::to_string(i) + ".png", 10 + i, {3, 6 + i, 8});
    AddImage(folder + "/dog/" + std::to_string(i) + ".png", 100 + i, {1, 8, 4 + i});
  }
  return folder;
}

TEST(DatasetCommandTest, CreatesATableOfAFolderOfImages) {
  const std::string photos = Photos(), out = TempPath("created");
  fs::remove_all(out);
  const nlohmann::json said = Json({"create", photos + "/", out, "--width", "4", "--height", "5",
                                    "--shuffle", "--seed", "3", "--validation", "25"});
  EXPECT_EQ(said["train_rows"], 7);  // of 7.5, as NNabla rounds
  EXPECT_EQ(said["validation_rows"], 3);
  EXPECT_EQ(said["classes"], nlohmann::json({"cat", "dog"}));
  std::set<std::string> all;
  for (const char* table : {"/train.csv", "/validation.csv"}) {
    EXPECT_EQ(Lines(out + table)[0], "x:image,y:label");
    const io::DatasetPtr rows = io::CsvRows(out + table, {.normalize = false});
    for (int64_t i = 0; i < rows->size(); ++i) {
      const io::Sample row = rows->Get(i);
      EXPECT_EQ(row[0].shape(), (Shape{3, 5, 4}));
      EXPECT_EQ(row[0].ToVector<int>()[0] >= 100, row[1].Item() == 1);
      all.insert(Lines(out + table)[static_cast<size_t>(i + 1)]);
    }
  }
  EXPECT_EQ(all.size(), 10u);
  EXPECT_TRUE(all.contains("cat/0.png,0"));

  const std::vector<std::string> again = {"create", photos, out, "--width", "4", "--height", "5"};
  EXPECT_EQ(Dataset(again).status, 1);
  EXPECT_THAT(Dataset(again).err, HasSubstr("train.csv: expected nothing there (--force"));
}

TEST(DatasetCommandTest, NamesImagesThatItCannotRead) {
  const std::string photos = Photos(), out = Folder("created_of_damaged");
  WriteFile(photos + "/dog/2.png", "no picture");
  WriteFile(photos + "/dog/3\x1b.png", "no picture");
  std::vector<std::string> line = {"create", photos,     out, "--width",
                                   "4",      "--height", "4", "--force"};
  EXPECT_EQ(Dataset(line).status, 1);
  EXPECT_THAT(Dataset(line).err, HasSubstr("dog/2.png: offset 0, signature"));
  EXPECT_FALSE(fs::exists(out + "/train.csv"));
  line.push_back("--skip-damaged");
  const Outcome o = Dataset(line);
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.err, HasSubstr("left out: "));
  EXPECT_THAT(o.err, HasSubstr("dog/3\\x1b.png"));
  EXPECT_THAT(o.err, Not(HasSubstr("\x1b")));
  EXPECT_EQ(Lines(out + "/train.csv").size(), 1u + 9);
  WriteFile(photos + "/dog/4.webp", "RIFF");
  EXPECT_THAT(Dataset(line).err, HasSubstr("(skip_unread leaves them out)"));
  line.push_back("--skip-unread");
  EXPECT_EQ(Dataset(line).status, 0);
  EXPECT_EQ(Lines(out + "/train.csv").size(), 1u + 9);
  line[2] = photos;
  EXPECT_EQ(Dataset(line).status, 2);
}

TEST(DatasetCommandTest, ImagesThatDifferInTheirEndsAreBothThere) {
  const std::string photos = Folder("ends"), out = Folder("ends_out");
  AddImage(photos + "/a/1.jpg", 200, {1, 4, 4});
  AddImage(photos + "/a/1.png", 20, {1, 4, 4});
  Json({"create", photos, out, "--width", "2", "--height", "2", "--channels", "1"});
  EXPECT_THAT(Lines(out + "/train.csv"),
              ElementsAre("x:image,y:label", "a/1.png,0", "a/1.png.png,0"));
  const io::DatasetPtr rows = io::CsvRows(out + "/train.csv", {.normalize = false});
  EXPECT_EQ(rows->Get(0)[0].ToVector<int>()[0], 200);
  EXPECT_EQ(rows->Get(1)[0].ToVector<int>()[0], 20);
}

TEST(DatasetCommandTest, KeepsProportionsByCuttingOffOrByBlack) {
  const std::string photos = Folder("modes"), out = Folder("modes_out");
  // A white picture with black edges on the left and right.
  fs::create_directories(photos + "/a");
  io::WriteImage(photos + "/a/wide.png", FromVector(std::vector<uint8_t>{0, 250, 250, 0,  //
                                                                         0, 250, 250, 0},
                                                    {1, 2, 4}));
  const auto bytes = [&](const char* h, const char* w, const char* mode) {
    Json({"create", photos, out, "--height", h, "--width", w, "--mode", mode, "--channels", "1",
          "--force"});
    return io::ReadImage(out + "/a/wide.png").ToVector<int>();
  };
  EXPECT_THAT(bytes("2", "2", "trimming"), Each(250));
  EXPECT_THAT(bytes("8", "1", "trimming"), AllOf(SizeIs(8), Each(250)));
  EXPECT_THAT(bytes("4", "4", "padding"),
              ElementsAre(0, 0, 0, 0, 0, 250, 250, 0, 0, 250, 250, 0, 0, 0, 0, 0));
  EXPECT_THAT(bytes("2", "7", "padding"),
              ElementsAre(0, 0, 250, 250, 0, 0, 0, 0, 0, 250, 250, 0, 0, 0));
  EXPECT_THAT(bytes("2", "2", "stretch"), Each(AllOf(Gt(100), Lt(200))));
  EXPECT_THAT(bytes("2", "4", "stretch"), ElementsAre(0, 250, 250, 0, 0, 250, 250, 0));
}

// --- convert, inspect, split --------------------------------------------------------------------

// x is a vector of two, y a label; row i is of i.
std::string Table(const std::string& folder, int n) {
  std::string text = "x__0:a,x__1:b,y:label\n";
  for (int i = 0; i < n; ++i) {
    text += std::to_string(i) + "," + std::to_string(i) + ".5," + std::to_string(i % 3) + "\n";
  }
  WriteFile(folder + "/all.csv", text);
  return folder + "/all.csv";
}

TEST(DatasetCommandTest, ConvertsTablesToCachesAndBack) {
  const std::string folder = Folder("convert"), table = Table(folder, 130);
  for (const std::string format : {"npy", "h5"}) {
    const std::string cache = folder + "/" + format, again = folder + "/" + format + ".csv";
    EXPECT_EQ(Json({"convert", table, cache, "--to", format})["rows"], 130);
    EXPECT_TRUE(fs::exists(cache + "/cache_00000100_00000129." + format));
    EXPECT_EQ(ReadFile(cache + "/original.csv"), ReadFile(table));
    EXPECT_EQ(Json({"convert", cache, again})["from"], "nnabla-cache");
    std::vector<std::string> want = Lines(table);
    want[0] = "x__0,x__1,y";
    EXPECT_EQ(Lines(again), want);
  }
  EXPECT_EQ(Dataset({"convert", table, folder + "/npy"}).status, 1);
  EXPECT_EQ(Dataset({"convert", table, folder + "/npy", "--force"}).status, 0);
  EXPECT_EQ(Dataset({"convert", table, folder + "/npy.csv"}).status, 1);
  // No output replaces its own source.
  EXPECT_EQ(Dataset({"convert", folder + "/npy", folder + "/npy", "--force"}).status, 2);
  EXPECT_EQ(Dataset({"convert", folder + "/npy/original.csv", folder + "/npy/", "--force"}).status,
            2);
  EXPECT_EQ(Dataset({"convert", table, table, "--force"}).status, 2);
  EXPECT_EQ(io::OpenNnablaCache(folder + "/npy")->size(), 130);
  const Outcome shuffled = Dataset({"convert", table, folder + "/s.csv", "--shuffle"});
  EXPECT_THAT(shuffled.err, HasSubstr("130/130"));  // progress
  EXPECT_NE(Lines(folder + "/s.csv")[1], Lines(table)[1]);
}

TEST(DatasetCommandTest, PicturesStayPictures) {
  const std::string folder = Folder("pictures");
  const Tensor pixels =
      FromVector(std::vector<uint8_t>{0, 50, 100, 150, 200, 255, 7, 8}, {2, 1, 2, 2});
  io::Save(folder + "/d.h5", {{"x", pixels},
                              {"y", FromValues<int64_t>({3, 4})},
                              {"z", FromVector(std::vector<float>{0.1f, 2, 3, 4}, {2, 1, 2})}});
  Json({"convert", folder + "/d.h5", folder + "/t.csv"});
  EXPECT_THAT(Lines(folder + "/t.csv"),
              ElementsAre("x,y,z", "t_files/x/00000/00000000.png,3,t_files/z/00000/00000000.npy",
                          "t_files/x/00000/00000001.png,4,t_files/z/00000/00000001.npy"));
  const io::DatasetPtr rows = io::CsvRows(folder + "/t.csv", {.normalize = false});
  EXPECT_TRUE(rows->Get(1)[0].Equals(pixels.Select(0, 1)));
  EXPECT_THAT(rows->Get(0)[2].ToVector<float>(), ElementsAre(0.1f, 2));
  // Bytes stay bytes in a cache; f32 from 0 to 1 become the same pictures again.
  Json({"convert", folder + "/t.csv", folder + "/cache", "--normalize"});
  Json({"convert", folder + "/cache", folder + "/u.csv"});
  EXPECT_TRUE(
      io::CsvRows(folder + "/u.csv", {.normalize = false})->Get(1)[0].Equals(pixels.Select(0, 1)));
  Json({"convert", folder + "/t.csv", folder + "/raw"});
  EXPECT_EQ(io::OpenNnablaCache(folder + "/raw", {.normalize = false})->Get(0)[0].dtype(),
            DType::kU8);
  EXPECT_EQ(io::OpenNnablaCache(folder + "/raw")->Get(0)[1].shape(), Shape{1});
}

TEST(DatasetCommandTest, AFullDiskLeavesNoHalfFiles) {
  const std::string folder = Folder("full"), path = folder + "/t.csv";
  const auto write = [&](const Tensor& inputs, rlim_t bytes) {
    const int64_t n = inputs.size(0);
    const io::DatasetPtr rows = io::NameSamples(io::FromTensors(inputs, Zeros({n})));
    return io::OnAFullDisk(bytes, [&] { WriteCsvData(path, *rows, [](int64_t) {}); });
  };
  WriteFile(path, "what was there");
  const absl::Status table = write(Ones({400, 2}), 900);
  EXPECT_EQ(table.code(), absl::StatusCode::kResourceExhausted) << table;
  EXPECT_THAT(std::string(table.message()), HasSubstr(path));
  EXPECT_THAT(io::List(folder), ElementsAre("t.csv"));
  // A picture that does not shrink much, and an array.
  const Tensor noise = Randint(0, 256, {1, 3, 40, 40}).To(DType::kU8);
  for (const Tensor& inputs : {noise, Ones({1, 30, 30})}) {
    const absl::Status files = write(inputs, 200);
    EXPECT_EQ(files.code(), absl::StatusCode::kResourceExhausted) << files;
    EXPECT_THAT(std::string(files.message()), HasSubstr(folder + "/t_files"));
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      EXPECT_TRUE(entry.is_directory() || entry.path() == path) << entry.path();
    }
  }
  EXPECT_EQ(ReadFile(path), "what was there");
}

TEST(DatasetCommandTest, ConvertsMnistAndCifar) {
  const std::string mnist = Folder("mnist"), cifar = Folder("cifar");
  WriteFile(mnist + "/t10k-images-idx3-ubyte",
            io::Idx(8, {2, 28, 28}, std::string(28 * 28, '\x07') + std::string(28 * 28, '\xff')));
  WriteFile(mnist + "/t10k-labels-idx1-ubyte", io::Idx(8, {2}, "\x03\x05"));
  EXPECT_EQ(Json({"convert", mnist, mnist + "/cache", "--test"})["from"], "mnist");
  const auto rows = io::OpenNnablaCache(mnist + "/cache", {.normalize = false});
  EXPECT_EQ(rows->Get(0)[0].spec().ToString(), "u8 [1, 28, 28] on cpu");
  EXPECT_EQ(rows->Get(0)[0].ToVector<int>()[5], 7);
  EXPECT_EQ(rows->Get(1)[1].Item<int64_t>(), 5);

  WriteFile(cifar + "/test_batch.bin", "\x06" + std::string(3072, '\x20'));
  EXPECT_EQ(Json({"convert", cifar, cifar + "/t.csv", "--test"})["from"], "cifar10");
  EXPECT_EQ(io::CsvRows(cifar + "/t.csv")->Get(0)[1].Item(), 6);
}

TEST(DatasetCommandTest, InspectsWhateverThereIs) {
  const std::string folder = Folder("inspect"), table = Table(folder, 30);
  const nlohmann::json j = Json({"inspect", table});
  EXPECT_EQ(j["format"], "csv");
  EXPECT_EQ(j["rows"], 30);
  EXPECT_EQ(j["variables"][0]["shape"], nlohmann::json({2}));
  EXPECT_EQ(j["variables"][0]["max"], 29.5);
  EXPECT_NEAR(j["variables"][0]["mean"].get<double>(), 14.75, 1e-6);
  EXPECT_EQ(j["variables"][1]["counts"], nlohmann::json({{"0", 10}, {"1", 10}, {"2", 10}}));
  EXPECT_EQ(Json({"inspect", table, "--rows", "3"})["read"], 3);
  const Outcome o = Dataset({"inspect", Photos()});
  EXPECT_THAT(o.out, HasSubstr("images, 10 rows"));
  EXPECT_THAT(o.out, HasSubstr("[3, 6, 8] and others"));
  EXPECT_THAT(o.out, HasSubstr("y: 0 x5 1 x5"));
  EXPECT_EQ(Dataset({"inspect", folder + "/none"}).status, 1);
  EXPECT_THAT(Dataset({"inspect", folder + "/none"}).err,
              HasSubstr("none: expected a data set (csv, "));
  EXPECT_EQ(Dataset({"inspect", table, "--from", "tape"}).status, 2);
  EXPECT_EQ(Dataset({"inspect"}).status, 2);
  EXPECT_EQ(Dataset({}).status, 2);
  WriteFile(folder + "/bad.csv", "x\n1\nnone.png\n");
  EXPECT_THAT(Dataset({"inspect", folder + "/bad.csv"}).err,
              HasSubstr("bad.csv: line 3, column 0"));
}

TEST(DatasetCommandTest, SplitsTables) {
  const std::string folder = Folder("split"), table = Table(folder, 50);
  const std::string a = folder + "/a.csv", b = folder + "/b.csv";
  const std::vector<std::string> line = {"split", table, "--ratio", "80,20", "--seed",
                                         "5",     "-o",  a,         b};
  const nlohmann::json said = Json(line);
  EXPECT_EQ(said[0]["rows"], 40);
  EXPECT_EQ(said[1]["rows"], 10);
  std::vector<std::string> first = Lines(a), second = Lines(b), all = Lines(table);
  EXPECT_EQ(first[0], all[0]);
  EXPECT_EQ(second[0], all[0]);
  EXPECT_EQ(second.size(), 11u);
  EXPECT_NE(second, std::vector<std::string>(all.end() - 11, all.end()));
  first.insert(first.end(), second.begin() + 1, second.end());
  std::sort(first.begin() + 1, first.end());
  std::sort(all.begin() + 1, all.end());
  EXPECT_EQ(first, all);

  EXPECT_EQ(Dataset(line).status, 1);  // a and b are there
  std::vector<std::string> again = line;
  again.push_back("--force");
  EXPECT_EQ(Dataset(again).status, 0);
  EXPECT_EQ(Lines(b), second);
  again.push_back("--in-order");
  EXPECT_EQ(Dataset(again).status, 0);
  EXPECT_EQ(Lines(b)[1], "40,40.5,1");
}

TEST(DatasetCommandTest, SplitsRecordsAndNotLines) {
  const std::string folder = Folder("split_records");
  const std::string a = folder + "/a.csv", b = folder + "/b.csv", table = folder + "/t.csv";
  WriteFile(table, "x,#note\n1,\"of two\nlines\"\n2,\n3,\"of\rtwo\"\n4,");
  const std::vector<std::string> line = {"split", table, "--ratio", "1,1",    "--in-order",
                                         "-o",    a,     b,         "--force"};
  EXPECT_EQ(Dataset(line).status, 0);
  EXPECT_EQ(ReadFile(a), "x,#note\n1,\"of two\nlines\"\n2,\n");
  EXPECT_EQ(ReadFile(b), "x,#note\n3,\"of\rtwo\"\n4,\n");
  WriteFile(table, "x\r1\r2\r");
  EXPECT_EQ(Dataset(line).status, 0);
  EXPECT_EQ(ReadFile(b), "x\r2\r");
}

TEST(DatasetCommandTest, SplitsOtherDataIntoCaches) {
  const std::string folder = Folder("split_cache"), table = Table(folder, 50);
  Json({"convert", table, folder + "/all"});
  const nlohmann::json said = Json({"split", folder + "/all", "--ratio", "3,1,1", "-o",
                                    folder + "/a", folder + "/b", folder + "/c"});
  EXPECT_EQ(said[0]["rows"], 30);
  std::set<double> seen;
  for (const char* part : {"/a", "/b", "/c"}) {
    const auto cache = io::OpenNnablaCache(folder + part);
    for (int64_t i = 0; i < cache->size(); ++i) {
      seen.insert(cache->Get(i)[0].Select(0, 0).Item());
    }
  }
  EXPECT_EQ(seen.size(), 50u);
}

TEST(DatasetCommandTest, RefusesSplitsThatMakeNoSense) {
  const std::string folder = Folder("no_split"), table = Table(folder, 50);
  const std::string a = folder + "/a.csv", b = folder + "/b.csv", away = Folder("away") + "/b.csv";
  const auto status = [&](const std::string& ratio, const std::string& one,
                          const std::string& two) {
    return Dataset({"split", table, "--ratio", ratio, "-o", one, two}).status;
  };
  EXPECT_EQ(status("1,1,1", a, b), 2);
  EXPECT_EQ(status("1,1", a, a), 2);
  EXPECT_EQ(status("1,1", a, folder + "/folder"), 2);
  EXPECT_EQ(status("1,x", a, b), 2);
  EXPECT_EQ(status("1,-1", a, b), 1);
  EXPECT_THAT(Dataset({"split", table, "--ratio", "1,1000000", "-o", a, b}).err,
              HasSubstr("expected rows for each output, got none of 50 for " + a));
  EXPECT_EQ(status("1,1", table, b), 1);
  EXPECT_EQ(status("1,1", a, away), 1);
  EXPECT_THAT(Dataset({"split", table, "--ratio", "1,1", "-o", a, away}).err,
              HasSubstr("from where its paths start"));
  EXPECT_FALSE(fs::exists(a));
  EXPECT_EQ(Lines(table).size(), 51u);
}

}  // namespace
}  // namespace firn::cli
