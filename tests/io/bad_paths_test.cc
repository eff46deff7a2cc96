// Every reader gives an error that names the path if no readable file is there, or no longer.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/autograd/network/network.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/csv/csv.h"
#include "firn/io/data/cifar.h"
#include "firn/io/data/csv_rows.h"
#include "firn/io/data/hdf5_dataset.h"
#include "firn/io/data/image_folder.h"
#include "firn/io/data/mnist.h"
#include "firn/io/data/npy_dataset.h"
#include "firn/io/data/rows.h"
#include "firn/io/formats/formats.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/idx/idx.h"
#include "firn/io/image/image.h"
#include "firn/io/monitors/event_reader.h"
#include "firn/io/monitors/record_reader.h"
#include "firn/io/monitors/series.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/io/nnabla/nnabla_solver.h"
#include "firn/io/npy/npy.h"
#include "firn/io/parameters.h"
#include "firn/io/wav/wav.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"
#include "tools/firn/files.h"
#include "tools/firn/train/config.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::StatusOf;

std::string FolderOf(const std::string& path) { return fs::path(path).parent_path().string(); }

void OpenCache(const std::string& path, const std::string& index, const std::string& info) {
  if (!index.empty()) WriteFile(FolderOf(path) + "/cache_index.csv", index);
  if (!info.empty()) WriteFile(FolderOf(path) + "/cache_info.csv", info);
  OpenNnablaCache(FolderOf(path));
}

// A reader of the file `path`, whose name is `file`, in a folder that was empty.
struct Reader {
  std::string name, file;
  std::function<void(const std::string& path)> read;
  bool may_be_missing = false;
};

const std::vector<Reader>& OtherReaders() {
  static const auto* readers = new std::vector<Reader>{
      {"ReadImage", "a.png", [](const std::string& p) { ReadImage(p); }},
      {"ReadNpy", "a.npy", [](const std::string& p) { ReadNpy(p); }},
      {"ReadNpz", "a.npz", [](const std::string& p) { ReadNpz(p); }},
      {"NpyDataset", "a.npy", [](const std::string& p) { NpyDataset(p); }},
      {"NpyDataset's targets", "a.npy",
       [](const std::string& p) {
         WriteNpy(FolderOf(p) + "/x.npy", Ones({1, 1}));
         NpyDataset(FolderOf(p) + "/x.npy", {.target = p});
       }},
      {"ReadWav", "a.wav", [](const std::string& p) { ReadWav(p); }},
      {"ReadIdx", "a-ubyte", [](const std::string& p) { ReadIdx(p); }},
      {"LoadCsv", "a.csv", [](const std::string& p) { LoadCsv(p); }},
      {"LoadCsvWords", "a.csv", [](const std::string& p) { LoadCsvWords(p, 0); }},
      {"CsvRows", "a.csv", [](const std::string& p) { CsvRows(p); }},
      {"CsvRows's cells", "a.npy",
       [](const std::string& p) {
         WriteFile(FolderOf(p) + "/t.csv", "x\na.npy\n");
         CsvRows(FolderOf(p) + "/t.csv")->Get(0);
       }},
      {"Load", "a.h5", [](const std::string& p) { Load(p); }},
      {"Hdf5Dataset", "a.h5", [](const std::string& p) { Hdf5Dataset(p); }},
      {"LoadNnablaSolver", "a.h5",
       [](const std::string& p) { LoadNnablaSolver(p, {}, {.solver = "Adam"}); }},
      {"Cifar10", "test_batch.bin",
       [](const std::string& p) { Cifar10(FolderOf(p), {.train = false}); }},
      {"Cifar100", "test.bin",
       [](const std::string& p) { Cifar100(FolderOf(p), {.train = false}); }},
      {"Mnist", "t10k-images-idx3-ubyte",
       [](const std::string& p) { Mnist(FolderOf(p), {.train = false}); }},
      {"LoadGraph", "a.firn", [](const std::string& p) { LoadGraph(p); }},
      {"LoadCheckpoint", "a.h5",
       [](const std::string& p) {
         CheckpointValues values;
         LoadCheckpoint(p, {{"a", values}});
       }},
      {"ReadCheckpointInfo", "a.h5", [](const std::string& p) { ReadCheckpointInfo(p); }},
      {"the index of a cache", "cache_index.csv",
       [](const std::string& p) { OpenCache(p, "", "x\n"); }},
      {"the variables of a cache", "cache_info.csv",
       [](const std::string& p) { OpenCache(p, "cache_0.npy,0\n", ""); }, true},
      {"a file of a cache", "cache_0.npy",
       [](const std::string& p) { OpenCache(p, "cache_0.npy,1\n", "x\n"); }},
      {"an HDF5 file of a cache", "cache_0.h5",
       [](const std::string& p) { OpenCache(p, "cache_0.h5,1\n", ""); }},
      {"LoadEvents", "a.tfevents", [](const std::string& p) { LoadEvents(p); }},
      {"LoadRecords of CSV", "a.csv", [](const std::string& p) { LoadRecords(p); }},
      {"LoadRecords of JSON", "a.jsonl", [](const std::string& p) { LoadRecords(p); }},
      {"LoadSeries", "a.series.txt", [](const std::string& p) { LoadSeries(p); }},
      {"LoadTimer", "a.timer.txt", [](const std::string& p) { LoadTimer(p); }},
      {"firn train", "a.json", [](const std::string& p) { cli::Config::Load(p); }},
      {"firn inspect of CSV", "a.csv", [](const std::string& p) { cli::ReadFile(p); }},
      {"firn inspect of events", "a.tfevents", [](const std::string& p) { cli::ReadFile(p); }},
      {"firn inspect", "a", [](const std::string& p) { cli::ReadFile(p); }},
  };
  return *readers;
}

// The readers of all registered formats whose files have a suffix, networks included.
std::vector<Reader> RegisteredReaders() {
  std::vector<Reader> readers;
  for (const Format* format : Formats()) {
    if (format->suffixes.empty()) continue;
    const std::string file = "a" + format->suffixes[0];
    if (format->read_tensors) {
      readers.push_back({format->name + "'s tensors", file,
                         [format](const std::string& p) { format->read_tensors(p, {}); }});
    }
    if (format->read_array) {
      readers.push_back({format->name + "'s array", file,
                         [format](const std::string& p) { format->read_array(p, {}); }});
    }
    if (format->read_network) {
      readers.push_back({format->name + "'s network", file,
                         [format](const std::string& p) { format->read_network(p, {}); }});
    }
  }
  return readers;
}

const std::vector<Reader>& Readers() {
  static const auto* readers = [] {
    auto* all = new std::vector<Reader>(RegisteredReaders());
    EXPECT_GT(all->size(), 12u);
    all->insert(all->end(), OtherReaders().begin(), OtherReaders().end());
    return all;
  }();
  return *readers;
}

// Calls each reader with a path that `make` has prepared.
void ExpectErrorsThatNamePaths(const std::function<void(const std::string& path)>& make,
                               std::vector<absl::StatusCode> codes) {
  int number = 0;
  for (const Reader& reader : Readers()) {
    SCOPED_TRACE(reader.name);
    const std::string folder = TempPath(std::to_string(number++));
    fs::create_directory(folder);
    const std::string path = folder + "/" + reader.file;
    make(path);
    if (!fs::exists(fs::symlink_status(path)) && reader.may_be_missing) continue;
    const absl::Status status = StatusOf([&] { reader.read(path); });
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
    EXPECT_THAT(codes, ::testing::Contains(status.code())) << status;
  }
}

TEST(BadPathsTest, NothingThere) {
  ExpectErrorsThatNamePaths([](const std::string&) {}, {absl::StatusCode::kNotFound});
}

TEST(BadPathsTest, AFolderWhereAFileShouldBe) {
  ExpectErrorsThatNamePaths([](const std::string& path) { fs::create_directory(path); },
                            {absl::StatusCode::kInvalidArgument});
}

// A pipe without a writer: a reader that opens it and waits would wait for ever.
TEST(BadPathsTest, APipeWhereAFileShouldBe) {
  ExpectErrorsThatNamePaths(
      [](const std::string& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); },
      {absl::StatusCode::kInvalidArgument});
}

TEST(BadPathsTest, APathThatCannotBeOpened) {
  ExpectErrorsThatNamePaths(
      [](const std::string& path) { fs::create_symlink(path, path); },  // it leads to itself
      {absl::StatusCode::kUnknown});                                    // it has no code of its own
  if (geteuid() == 0) return;                                           // root may read everything
  ExpectErrorsThatNamePaths(
      [](const std::string& path) {
        fs::remove(path);
        WriteFile(path, "x");
        fs::permissions(path, fs::perms::none);
      },
      {absl::StatusCode::kPermissionDenied});
}

TEST(BadPathsTest, AFolderOfImagesThatIsNone) {
  const std::string folder = TempPath("images");
  EXPECT_THAT(ErrorOf([&] { ImageFolder(folder); }), HasSubstr(folder));
  WriteFile(folder, "no folder");
  EXPECT_THAT(ErrorOf([&] { ImageFolder(folder); }), HasSubstr(folder));
  fs::remove(folder);
  fs::create_directories(folder + "/cat/1.png");
  EXPECT_THAT(ErrorOf([&] { ImageFolder(folder); }), HasSubstr(folder + "/cat"));
}

// --- Files that go away while their rows are read
// --------------------------------------------------

TEST(BadPathsTest, AnImageThatWasRemoved) {
  const std::string folder = TempPath("images"), path = folder + "/cat/1.png";
  fs::create_directories(folder + "/cat");
  WriteImage(path, Full({1, 2, 2}, 7).To(DType::kU8));
  const auto images = ImageFolder(folder);
  fs::remove(path);
  EXPECT_THAT(ErrorOf([&] { images->Get(0); }), HasSubstr(path));
  fs::create_directory(path);
  EXPECT_THAT(ErrorOf([&] { images->Get(0); }), HasSubstr(path));
}

TEST(BadPathsTest, TheFileOfACellThatWasRemoved) {
  const std::string table = TempPath("t.csv"), path = TempPath("a.npy");
  WriteFile(table, "x\na.npy\n");
  WriteNpy(path, Ones({2}));
  const DatasetPtr rows = CsvRows(table);
  EXPECT_EQ(rows->Get(0)[0].num_elements(), 2);
  fs::remove(path);
  const std::string error = ErrorOf([&] { rows->Get(0); });
  EXPECT_THAT(error, HasSubstr(path));
  EXPECT_THAT(error, HasSubstr(table + ": line 2, column 0"));
}

// A reader that holds its file open still has it when the name is gone, but not a part that was cut
// off.
TEST(BadPathsTest, TablesThatWereRemovedOrEmptied) {
  const std::string table = TempPath("t.csv"), array = TempPath("a.npy");
  WriteFile(table, "x\n1\n2\n");
  WriteNpy(array, Ones({2, 1}));
  const DatasetPtr rows = CsvRows(table);
  const DatasetPtr samples = NpyDataset(array);
  const std::vector<int64_t> both = {0, 1};
  for (const std::string& path : {table, array}) {
    fs::create_hard_link(path, path + ".kept");
    fs::remove(path);
  }
  EXPECT_EQ(rows->Get(1)[0].Item(), 2);
  EXPECT_EQ(samples->Get(1).input.Item(), 1);
  for (const std::string& path : {table, array}) fs::resize_file(path + ".kept", 0);
  EXPECT_THAT(ErrorOf([&] { rows->Get(1); }), HasSubstr(table));
  EXPECT_THAT(ErrorOf([&] { samples->Get(1); }), HasSubstr(array));
  EXPECT_THAT(ErrorOf([&] { samples->GetBatch(both); }), HasSubstr(array));
}

TEST(BadPathsTest, FilesOfACacheThatWereRemoved) {
  for (const NnablaCacheFormat format : {NnablaCacheFormat::kNpy, NnablaCacheFormat::kHdf5}) {
    const std::string folder = TempPath("cache");
    WriteNnablaCache(folder, NameSamples(FromTensors(Ones({4, 1}), Zeros({4}))),
                     {.format = format, .rows_per_file = 2, .replace = true});
    const auto cache = OpenNnablaCache(folder);
    const std::string path =
        folder + "/cache_00000002_00000003" + (format == NnablaCacheFormat::kNpy ? ".npy" : ".h5");
    ASSERT_TRUE(fs::remove(path));
    EXPECT_EQ(cache->Get(0)[0].Item(), 1);
    EXPECT_THAT(ErrorOf([&] { cache->Get(2); }), HasSubstr(path));
    fs::create_directory(path);
    EXPECT_THAT(ErrorOf([&] { cache->Get(2); }), HasSubstr(path));
  }
}

}  // namespace
}  // namespace firn::io
