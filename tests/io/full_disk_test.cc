// If the disk is full, or something is at the path that a file must not replace, every writer gives
// an error that names the path, leaves no half file, and loses no data. `firn dataset` has a test
// of its own.
#include "tests/io/full_disk.h"

#include <sys/resource.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/data/rows.h"
#include "firn/io/formats/formats.h"
#include "firn/io/graph/save.h"
#include "firn/io/image/image.h"
#include "firn/io/monitors/event_writer.h"
#include "firn/io/monitors/monitor.h"
#include "firn/io/monitors/monitor_image.h"
#include "firn/io/monitors/plot.h"
#include "firn/io/monitors/record_writer.h"
#include "firn/io/nnabla/nnabla_cache.h"
#include "firn/io/nnabla/nnabla_solver.h"
#include "firn/io/parameters.h"
#include "firn/io/wav/wav.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::StatusOf;

// --- Files that are replaced as a whole
// ------------------------------------------------------------

struct Writer {
  std::string file;
  std::function<void(const std::string& path)> write;  // more than a kilobyte
};

Tensor Pixels() { return Randint(0, 256, {3, 40, 40}).To(DType::kU8); }

const std::vector<Writer>& OtherWriters() {
  static const auto* writers = new std::vector<Writer>{
      {"checkpoint.h5",
       [](const std::string& p) {
         CheckpointValues values;
         values.Set("x", Ones({1000}));
         SaveCheckpoint(p, {{"a", values}});
       }},
      {"states.h5",
       [](const std::string& p) {
         const StateDict sgd = {{"groups.0.lr", Full({}, 0.1)}, {"state.w.step", Full({}, 3)}};
         SaveNnablaSolver(p, sgd, {.solver = "Sgd"});
       }},
      {"a.wav",
       [](const std::string& p) {
         WriteWav(p, {Zeros({1, 1000}), 8000});
       }},
      {"a.png", [](const std::string& p) { WriteImage(p, Pixels()); }},
      {"a.jpg", [](const std::string& p) { WriteImage(p, Pixels()); }},
      {"a.svg",
       [](const std::string& p) {
         PlotSeries(p, {{.x = {1, 2, 3}, .y = {1, 2, 3}}});
       }},
      {"plot.png",
       [](const std::string& p) {
         PlotSeries(p, {{.x = {1, 2, 3}, .y = {1, 2, 3}}});
       }},
  };
  return *writers;
}

// The writers of all registered formats of tensors and of graphs.
std::vector<Writer> RegisteredWriters() {
  std::vector<Writer> writers;
  for (const Format* format : Formats()) {
    if (format->write_tensors) {
      writers.push_back({"a" + format->suffixes[0], [format](const std::string& p) {
                           format->write_tensors(p, {{"x", Ones({1000})}});
                         }});
    }
    for (const std::string& suffix : format->graph_suffixes) {
      writers.push_back({"graph" + suffix, [](const std::string& p) {
                           const Tensor weight = Ones({1000});
                           Save(p, Freeze(
                                       [&](const Tensor& x) {
                                         Tensor y = x * weight;
                                         for (int i = 0; i < 20; ++i) y = Relu(y + 1);
                                         return y;
                                       },
                                       Ones({1000})));
                         }});
    }
  }
  return writers;
}

const std::vector<Writer>& Writers() {
  static const auto* writers = [] {
    auto* all = new std::vector<Writer>(RegisteredWriters());
    EXPECT_GT(all->size(), 10u);
    all->insert(all->end(), OtherWriters().begin(), OtherWriters().end());
    return all;
  }();
  return *writers;
}

TEST(FullDiskTest, FilesAreWrittenAsAWholeOrNotAtAll) {
  for (const Writer& writer : Writers()) {
    SCOPED_TRACE(writer.file);
    const std::string folder = TempPath("in_" + writer.file);
    const std::string path = folder + "/" + writer.file;
    fs::create_directory(folder);
    for (const rlim_t bytes : {0, 1, 200, 900}) {
      fs::remove(path);
      const absl::Status fresh = OnAFullDisk(bytes, [&] { writer.write(path); });
      EXPECT_EQ(fresh.code(), absl::StatusCode::kResourceExhausted) << fresh;
      EXPECT_THAT(std::string(fresh.message()), HasSubstr(path));
      EXPECT_THAT(List(folder), ::testing::IsEmpty());
      WriteFile(path, "what was there");
      const absl::Status again = OnAFullDisk(bytes, [&] { writer.write(path); });
      EXPECT_EQ(again.code(), absl::StatusCode::kResourceExhausted) << again;
      EXPECT_EQ(ReadFile(path), "what was there");
      EXPECT_THAT(List(folder), ::testing::ElementsAre(writer.file));
    }
    writer.write(path);
    EXPECT_NE(ReadFile(path), "what was there");
  }
}

TEST(FullDiskTest, WhatIsNoFileIsNotReplaced) {
  for (const Writer& writer : Writers()) {
    SCOPED_TRACE(writer.file);
    const std::string folder = TempPath("in_" + writer.file);
    const std::string path = folder + "/" + writer.file, device = folder + "/to_" + writer.file;
    fs::create_directories(path);
    fs::create_symlink("/dev/full", device);
    EXPECT_THAT(testing::ErrorOf([&] { writer.write(path); }), HasSubstr(path));
    EXPECT_THAT(testing::ErrorOf([&] { writer.write(device); }), HasSubstr(device));
    EXPECT_THAT(testing::ErrorOf([&] { writer.write(folder + "/none/" + writer.file); }),
                HasSubstr(folder + "/none/" + writer.file));
    EXPECT_TRUE(fs::is_directory(path) && fs::is_character_file("/dev/full"));
    EXPECT_EQ(List(folder).size(), 2u);
  }
}

// --- Folders
// ---------------------------------------------------------------------------------------

TEST(FullDiskTest, ACacheThatWasNotWrittenIsNone) {
  const DatasetPtr rows = NameSamples(FromTensors(Ones({60, 100}), Zeros({60})));
  const std::string original = TempPath("t.csv");
  WriteFile(original, std::string(300, '1') + "\n");
  for (const NnablaCacheFormat format : {NnablaCacheFormat::kNpy, NnablaCacheFormat::kHdf5}) {
    // The disk has room for no file, for all but one of the small files, or for all but the rows.
    for (const rlim_t bytes : {0, 3, 250, 2000}) {
      const std::string folder = TempPath("cache");
      fs::remove_all(folder);
      const int64_t each = bytes == 2000 ? 60 : 1;
      const absl::Status status = OnAFullDisk(bytes, [&] {
        WriteNnablaCache(folder, rows,
                         {.format = format, .rows_per_file = each, .original = original});
      });
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(folder));
      EXPECT_EQ(StatusOf([&] { OpenNnablaCache(folder); }).code(), absl::StatusCode::kNotFound);
      for (const std::string& name : List(folder)) {
        EXPECT_THAT(name, ::testing::Not(HasSubstr(".tmp."))) << "left behind";
      }
    }
  }
}

TEST(FullDiskTest, TheCopyOfTheTableOfACacheIsWholeOrNotThere) {
  const DatasetPtr rows = NameSamples(FromTensors(Ones({2}), Zeros({2})));
  const std::string original = TempPath("t.csv"), folder = TempPath("cache");
  WriteFile(original, std::string(5000, '1') + "\n");
  const absl::Status status =
      OnAFullDisk(3000, [&] { WriteNnablaCache(folder, rows, {.original = original}); });
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder + "/original.csv"));
  EXPECT_FALSE(fs::exists(folder + "/original.csv"));
}

TEST(FullDiskTest, PicturesOfAMonitor) {
  const Monitor monitor(TempPath("run"));
  const Tensor batch = Rand({2, 3, 30, 30});
  MonitorImage image("image", monitor);
  MonitorImageTile tile("tile", monitor);
  const auto expect = [&](const std::string& folder, const std::function<void()>& add) {
    const absl::Status status = OnAFullDisk(100, add);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(monitor.save_path() + "/" + folder));
    EXPECT_THAT(List(monitor.save_path() + "/" + folder), ::testing::IsEmpty());
    add();
    EXPECT_FALSE(List(monitor.save_path() + "/" + folder).empty());
  };
  expect("image", [&] { image.Add(0, batch); });
  expect("tile", [&] { tile.Add(0, batch); });
}

// --- Files that grow by records
// --------------------------------------------------------------------

TEST(FullDiskTest, FilesThatGrowKeepTheirWholeRecords) {
  const Monitor monitor(TempPath("run"));
  MonitorSeries series("series", monitor);
  MonitorTimeElapsed timer("timer", monitor, {.interval = 1});
  CsvWriter csv(TempPath("a.csv"), {"step", "loss"});
  JsonLinesWriter json(TempPath("a.jsonl"));
  EventWriter events(TempPath("events"));
  const auto expect = [&](const std::string& path, const std::function<void(int)>& add) {
    SCOPED_TRACE(path);
    add(0);
    const std::string before = ReadFile(path);
    // The disk has room for no byte, or for a part of the record.
    for (const rlim_t room : {0, 3}) {
      const absl::Status status = OnAFullDisk(before.size() + room, [&] { add(1); });
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(path));
      EXPECT_EQ(ReadFile(path), before);
    }
    add(2);  // there is room again
    EXPECT_TRUE(ReadFile(path).starts_with(before));
    EXPECT_GT(ReadFile(path).size(), before.size());
  };
  expect(series.path(), [&](int i) { series.Add(i, 0.5); });
  expect(timer.path(), [&](int i) { timer.Add(i); });
  expect(csv.path(), [&](int i) { csv.Write({i, 0.25}); });
  expect(json.path(), [&](int i) { json.Write({{"step", i}}); });
  expect(events.path(), [&](int i) { events.AddScalar("loss", 0.5, i); });
}

}  // namespace
}  // namespace firn::io
