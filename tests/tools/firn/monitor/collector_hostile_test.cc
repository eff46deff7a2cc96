// Folders whose names and sizes a stranger chose.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/image/image.h"
#include "firn/io/monitors/event_writer.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"
#include "tools/firn/monitor/collector.h"

namespace firn::cli {
namespace {

using ::firn::io::TempPath;
using ::firn::io::WriteFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunContents Look(Collector* collector) {
  EXPECT_TRUE(collector->Update().ok());
  return collector->Contents();
}

std::string NewFolder() {
  const std::string folder = TempPath("run");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(HostileFolderTest, PicturesBeyondThePageTakeNoMemory) {
  const std::string folder = NewFolder();
  MonitorLimits limits;
  limits.embedded_bytes = int64_t{10} << 20;
  constexpr int64_t kBytes = int64_t{3} << 20;
  for (int row = 0; row < 20; ++row) {
    const std::string below = folder + "/" + std::to_string(row);
    std::filesystem::create_directories(below);
    for (int i = 0; i < 10; ++i) {
      const std::string path = below + "/" + std::to_string(i) + ".svg";
      WriteFile(path, "<svg/>");
      std::filesystem::resize_file(path, kBytes);  // sparse
    }
  }
  Collector collector(folder, limits);
  ASSERT_TRUE(collector.Update().ok());
  const int64_t before = ResidentBytes();
  const RunContents contents = collector.Contents();
  // All 200 of them together have 600 MiB.
  EXPECT_LT(ResidentBytes() - before, int64_t{200} << 20);
  EXPECT_TRUE(contents.beyond_limits);
  EXPECT_THAT(contents.problems, IsEmpty());
  ASSERT_EQ(contents.pictures.size(), 20u);
  size_t pictures = 0;
  for (const PictureGroup& group : contents.pictures) {
    pictures += group.pictures.size();
    EXPECT_EQ(group.left_out, 10 - static_cast<int64_t>(group.pictures.size()));
  }
  EXPECT_EQ(pictures, 3u);
}

// Whether they are files or in event files.
TEST(HostileFolderTest, PicturesThatAreTooLargeAreLeftOut) {
  const std::string folder = NewFolder();
  const Tensor noise = Mul(Rand({3, 20, 20}), 255).To(DType::kU8);
  std::filesystem::create_directories(folder + "/files");
  io::WriteImage(folder + "/files/1.png", noise);
  io::EventWriter(folder).AddImage("events", noise, 1);
  MonitorLimits limits;
  Collector all(folder, limits);
  EXPECT_FALSE(Look(&all).beyond_limits);
  std::vector<MonitorLimits> smaller(2, limits);
  smaller[0].max_picture_bytes = 100;
  smaller[1].max_picture_pixels = 100;
  for (const MonitorLimits& l : smaller) {
    Collector collector(folder, l);
    const RunContents contents = Look(&collector);
    EXPECT_THAT(contents.problems, IsEmpty());
    EXPECT_TRUE(contents.beyond_limits);
    ASSERT_EQ(contents.pictures.size(), 2u);
    for (const PictureGroup& group : contents.pictures) {
      EXPECT_THAT(group.pictures, IsEmpty());
      EXPECT_EQ(group.left_out, 1);
    }
  }
}

TEST(HostileFolderTest, PicturesOfEventsThatFindNoRoomAreTold) {
  const std::string folder = NewFolder();
  io::EventWriter(folder).AddImage("events", Full({1, 4, 4}, 0.5), 1);
  MonitorLimits limits;
  limits.event_picture_bytes = 100;
  Collector collector(folder, limits);
  EXPECT_TRUE(Look(&collector).beyond_limits);
}

// In the file an input is a number.
TEST(HostileFolderTest, InputsOfAGraphAreNamedOnce) {
  const std::string folder = NewFolder();
  const StaticGraph graph = Freeze(
      [](const Tensor& x) { return Concat(std::vector<Tensor>(1000, x), 0); }, Zeros({1, 2}));
  io::SaveGraph(folder + "/net.firn", graph);
  Collector collector(folder);
  const RunContents contents = Look(&collector);
  ASSERT_EQ(contents.graphs.size(), 1u);
  EXPECT_THAT(contents.graphs[0].nodes.back().inputs, ElementsAre("input0"));
}

TEST(HostileFolderTest, NamesOfAGraphTakeRoom) {
  const std::string folder = NewFolder();
  const std::string name(3000, 'n');
  const StaticGraph graph = Freeze(
      [&](const Tensor& x) {
        const PathScope scope(name);
        Tensor y = x;
        for (int i = 0; i < 10; ++i) y = Relu(y);
        return y;
      },
      Zeros({2}));
  io::SaveGraph(folder + "/net.firn", graph);
  MonitorLimits limits;
  limits.other_bytes = 80'000;
  Collector enough(folder, limits);
  EXPECT_EQ(Look(&enough).graphs.size(), 1u);
  limits.other_bytes = 40'000;  // each has its own name and that of one input
  Collector collector(folder, limits);
  const RunContents contents = Look(&collector);
  EXPECT_THAT(contents.graphs, IsEmpty());
  EXPECT_TRUE(contents.beyond_limits);
}

TEST(HostileFolderTest, TheNameOfXIsNoText) {
  const std::string folder = NewFolder();
  const std::string name(1000, 'x');
  WriteFile(folder + "/a.jsonl", "{\"" + name + "\": 1, \"loss\": 2}\n");
  Collector collector(folder);
  const RunContents contents = Look(&collector);
  EXPECT_THAT(contents.charts, IsEmpty());
  ASSERT_EQ(contents.problems.size(), 1u);
  EXPECT_THAT(contents.problems[0].what,
              HasSubstr("the first name, that of x, has 1000 bytes (want at most 256)"));
}

TEST(HostileFolderTest, ALinkThatComesAfterTheLookIsNotFollowed) {
  const std::string folder = NewFolder(), outside = TempPath("outside.png");
  io::WriteImage(outside, Full({3, 4, 4}, 200).To(DType::kU8));
  std::filesystem::copy_file(outside, folder + "/1.png");
  Collector collector(folder);
  ASSERT_TRUE(collector.Update().ok());
  std::filesystem::remove(folder + "/1.png");
  std::filesystem::create_symlink(outside, folder + "/1.png");
  const RunContents contents = collector.Contents();
  ASSERT_EQ(contents.pictures.size(), 1u);
  EXPECT_THAT(contents.pictures[0].pictures, IsEmpty());
  ASSERT_EQ(contents.problems.size(), 1u);
  EXPECT_THAT(contents.problems[0].what, HasSubstr("1.png is a symbolic link"));
}

}  // namespace
}  // namespace firn::cli
