// Messages of readers about damaged files and limits must help users who know only the
// documentation: they name the file, and for a limit the option that raises it.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/csv/csv.h"
#include "firn/io/data/csv_rows.h"
#include "firn/io/data/hdf5_dataset.h"
#include "firn/io/data/npy_dataset.h"
#include "firn/io/data/rows.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/idx/idx_status.h"
#include "firn/io/image/image.h"
#include "firn/io/monitors/event_reader.h"
#include "firn/io/monitors/event_writer.h"
#include "firn/io/monitors/record_reader.h"
#include "firn/io/monitors/series.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/io/npy/npy.h"
#include "firn/io/parameters.h"
#include "firn/io/wav/wav.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/image/image_test_files.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;
using Code = absl::StatusCode;
using ::testing::HasSubstr;
using testing::StatusOf;

std::string FolderOf(const std::string& path) { return fs::path(path).parent_path().string(); }

// A limit, and a value of it below what the sound file needs.
struct Limit {
  const char* option;  // as the message has it
  LoadLimits limits = {};
};
const Limit kTotal = {"limits.max_total_bytes", {.max_total_bytes = 1}};
const Limit kTensors = {"limits.max_tensors", {.max_tensors = 0}};
const Limit kMetadata = {"limits.max_metadata_bytes", {.max_metadata_bytes = 1}};
const Limit kName = {"limits.max_name_bytes", {.max_name_bytes = 1}};
const Limit kDepth = {"limits.max_depth", {.max_depth = 1}};

struct Format {
  const char* name;
  const char* file;  // its name, in a folder of its own
  std::function<void(const std::string& path)> write;
  std::function<void(const std::string& path, const LoadLimits& limits)> read;
  std::vector<Limit> limits = {};
};

StateDict Arrays() { return {{"group.sub.x", Ones({3, 2})}, {"group.y", Zeros({3})}}; }

void WriteEvents(const std::string& path) {
  EventWriter writer(FolderOf(path) + "/events");
  writer.AddScalar("loss", 0.5, 1);
  writer.AddScalar("loss", 0.25, 2);
  const std::string written = writer.path();
  { const EventWriter closed = std::move(writer); }
  fs::rename(written, path);
}

void WriteCache(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  WriteNnablaCache(folder.string(), NameSamples(FromTensors(Ones({4, 1}), Zeros({4}))),
                   {.rows_per_file = 4, .replace = true});
}

void Text(const std::string& path, const std::string& text) { WriteFile(path, text); }

std::vector<Format> Formats() {
  return {
      {"ReadNpy",
       "a.npy",
       [](const std::string& p) {
         WriteNpy(p, Ones({3, 2}));
       },
       [](const std::string& p, const LoadLimits& l) { ReadNpy(p, {.limits = l}); },
       {kTotal}},
      {"ReadNpz",
       "a.npz",
       [](const std::string& p) { WriteNpz(p, Arrays(), {.compress = true}); },
       [](const std::string& p, const LoadLimits& l) { ReadNpz(p, {.limits = l}); },
       {kTotal, kTensors, kMetadata, kName}},
      {"NpyDataset",
       "a.npy",
       [](const std::string& p) {
         WriteNpy(p, Ones({3, 2}));
       },
       [](const std::string& p, const LoadLimits& l) {
         NpyDataset(p, {.max_row_bytes = std::min(l.max_total_bytes, int64_t{1} << 30)});
       },
       {{"(max_row_bytes)", {.max_total_bytes = 1}}}},
      {"ReadWav",
       "a.wav",
       [](const std::string& p) {
         WriteWav(p, {Zeros({2, 8}), 16000});
       },
       [](const std::string& p, const LoadLimits& l) { ReadWav(p, l); },
       {kTotal}},
      {"TryReadIdx",
       "a-ubyte",
       [](const std::string& p) {
         Text(p, Idx(8, {2, 3}, "abcdef"));
       },
       [](const std::string& p, const LoadLimits& l) {
         RaiseIfError(TryReadIdx(p, l).status(), "idx");
       },
       {kTotal}},
      {"TryReadIdx of gzip",
       "a.gz",
       [](const std::string& p) { Text(p, Gzip(Idx(8, {3}, "abc"))); },
       [](const std::string& p, const LoadLimits& l) {
         RaiseIfError(TryReadIdx(p, l).status(), "idx");
       },
       {kTotal}},
      {"LoadCsv",
       "a.csv",
       [](const std::string& p) { Text(p, "a,b\n1,2\n3,\"4\"\n"); },
       [](const std::string& p, const LoadLimits& l) {
         LoadCsv(p, {.skip_lines = 1, .limits = l});
       },
       {kTotal}},
      {"LoadCsvWords",
       "a.csv",
       [](const std::string& p) { Text(p, "red,b\n\"blue\",2\n"); },
       [](const std::string& p, const LoadLimits& l) { LoadCsvWords(p, 0, {.limits = l}); },
       {kTotal}},
      {"CsvRows",
       "a.csv",
       [](const std::string& p) {
         WriteNpy(FolderOf(p) + "/x.npy", Ones({2}));
         Text(p, "x,y__0:label,y__1\nx.npy,0.5,\"2\"\n");
       },
       [](const std::string& p, const LoadLimits& l) { CsvRows(p, {.limits = l})->Get(0); },
       {kMetadata}},
      {"Load",
       "a.h5",
       [](const std::string& p) { Save(p, Arrays()); },
       [](const std::string& p, const LoadLimits& l) { Load(p, {.limits = l}); },
       {kTotal, kTensors, kMetadata, kName, kDepth}},
      {"Hdf5Dataset",
       "a.h5",
       [](const std::string& p) { Save(p, Arrays()); },
       [](const std::string& p, const LoadLimits& l) {
         Hdf5Dataset(p, {.input = "group.sub.x",
                         .target = "group.y",
                         .in_memory = false,
                         .max_row_bytes = std::min(l.max_total_bytes, int64_t{1} << 30),
                         .limits = l});
       },
       {{"(max_row_bytes)", {.max_total_bytes = 1}}, kMetadata, kName, kDepth}},
      {"LoadCheckpoint",
       "a.h5",
       [](const std::string& p) {
         CheckpointValues values;
         values.Set("best", 0.5);
         SaveCheckpoint(p, {{"mine", values}}, {.step = 3});
       },
       [](const std::string& p, const LoadLimits& l) {
         CheckpointValues values;
         LoadCheckpoint(p, {{"mine", values}}, {.limits = l});
       },
       {kTotal, kTensors, kMetadata, kName, kDepth}},
      {"LoadGraph",
       "a.firn",
       [](const std::string& p) {
         const Tensor w = Ones({3, 2});
         SaveGraph(p, Freeze([&](const Tensor& x) { return Relu(x) * w; }, Zeros({3, 2})),
                   {.names = {{"weight", w}}});
       },
       [](const std::string& p, const LoadLimits& l) { LoadGraph(p, {.limits = l}); },
       {kTotal, kTensors, kMetadata, kName}},
      {"OpenNnablaCache",
       "cache_index.csv",
       WriteCache,
       [](const std::string& p, const LoadLimits& l) {
         OpenNnablaCache(FolderOf(p), {.limits = l})->Get(0);
       },
       {kMetadata}},
      {"LoadEvents",
       "a.tfevents",
       WriteEvents,
       [](const std::string& p, const LoadLimits& l) { LoadEvents(p, l); },
       {kMetadata}},
      {"LoadRecords of CSV",
       "a.csv",
       [](const std::string& p) { Text(p, "a,b\n1,\"x\"\n2,y\n"); },
       [](const std::string& p, const LoadLimits& l) { LoadRecords(p, l); },
       {kTotal, kMetadata}},
      {"LoadRecords of JSON",
       "a.jsonl",
       [](const std::string& p) { Text(p, "{\"a\": 1, \"b\": \"x\"}\n{\"a\": null, \"c\": 2}\n"); },
       [](const std::string& p, const LoadLimits& l) { LoadRecords(p, l); },
       {kTotal, kMetadata}},
      {"LoadSeries",
       "a.series.txt",
       [](const std::string& p) { Text(p, "1 0.5\n2 0.25\n"); },
       [](const std::string& p, const LoadLimits& l) { LoadSeries(p, l); },
       {kTotal}},
      {"LoadTimer",
       "a.timer.txt",
       [](const std::string& p) { Text(p, "1 0.5 1 0.5\n"); },
       [](const std::string& p, const LoadLimits& l) { LoadTimer(p, TimerColumn::kTotal, l); },
       {kTotal}},
  };
}

// The file of a format in a folder of its own.
std::string PathOf(const std::string& folder, const std::string& file) {
  const std::string path = TempPath(folder) + "/" + file;
  fs::create_directories(FolderOf(path));
  return path;
}

void ExpectPlain(const absl::Status& status, const std::string& path) {
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr(path));
  EXPECT_FALSE(message.ends_with('.') || message.ends_with(' ')) << message;
  const bool printable =
      std::all_of(message.begin(), message.end(), [](unsigned char c) { return c >= ' '; });
  EXPECT_TRUE(printable) << message;
}

TEST(MessagesTest, ALimitNamesTheFileAndTheOptionThatRaisesIt) {
  int number = 0;
  for (const Format& format : Formats()) {
    const std::string path = PathOf(std::to_string(number++), format.file);
    format.write(path);
    ASSERT_EQ(StatusOf([&] { format.read(path, {}); }), absl::OkStatus()) << format.name;
    for (const Limit& limit : format.limits) {
      SCOPED_TRACE(std::string(format.name) + ", " + limit.option);
      const absl::Status status = StatusOf([&] { format.read(path, limit.limits); });
      EXPECT_EQ(status.code(), Code::kResourceExhausted) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(limit.option));
      ExpectPlain(status, path);
    }
  }
}

TEST(MessagesTest, ALimitOfImagesNamesTheFileAndTheOptionThatRaisesIt) {
  for (const auto& [name, bytes] : SmallImages()) {
    SCOPED_TRACE(name);
    const std::string path = TempPath(name);
    WriteFile(path, bytes);
    const auto refused = [&](const ImageLimits& limits) {
      const absl::Status status = StatusOf([&] { ReadImage(path, {.limits = limits}); });
      EXPECT_EQ(status.code(), Code::kResourceExhausted) << status;
      ExpectPlain(status, path);
      return std::string(status.message());
    };
    EXPECT_THAT(refused({.max_bytes = 1}), HasSubstr("(limits.max_bytes)"));
    if (name == "wide.ppm") continue;  // of one pixel
    EXPECT_THAT(refused({.max_pixels = 1}), HasSubstr("(limits.max_pixels)"));
  }
}

// Cuts `bytes` short and changes them, at up to some 300 places, and reads each.
void Damage(const std::string& path, const std::string& bytes, const std::function<void()>& read) {
  const size_t step = bytes.size() / 300 + 1;
  int refused = 0;
  const auto expect = [&](const std::string& changed, const std::string& how) {
    SCOPED_TRACE(how);
    WriteFile(path, changed);
    const absl::Status status = StatusOf(read);
    if (status.ok()) return;
    ++refused;
    const std::set<Code> codes = {Code::kDataLoss, Code::kUnimplemented, Code::kResourceExhausted};
    EXPECT_TRUE(codes.contains(status.code())) << status;
    ExpectPlain(status, path);
  };
  for (size_t at = 0; at < bytes.size(); at += step) {
    expect(bytes.substr(0, at), "cut at " + std::to_string(at));
    for (const int flip : {1, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      expect(changed, "byte " + std::to_string(at) + " ^ " + std::to_string(flip));
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(refused, 0);
}

// Other errors that changed bytes may cause: a legal name or path instead of the right one.
bool FindsThingsByName(std::string_view format) {
  return format == "CsvRows" || format == "Hdf5Dataset" || format == "LoadCheckpoint" ||
         format == "OpenNnablaCache";
}

TEST(MessagesTest, DamageNamesTheFile) {
  int number = 0;
  for (const Format& format : Formats()) {
    if (FindsThingsByName(format.name)) continue;
    SCOPED_TRACE(format.name);
    const std::string path = PathOf("damaged" + std::to_string(number++), format.file);
    format.write(path);
    Damage(path, ReadFile(path), [&] { format.read(path, {}); });
  }
}

TEST(MessagesTest, DamageOfImagesNamesTheFile) {
  for (const auto& [name, bytes] : SmallImages()) {
    SCOPED_TRACE(name);
    const std::string path = TempPath("damaged_" + name);
    Damage(path, bytes, [&] { ReadImage(path); });
  }
}

}  // namespace
}  // namespace firn::io
