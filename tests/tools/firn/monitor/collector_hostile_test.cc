// Folders of which a stranger chose the names and the sizes.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "autograd/graph/static_graph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/graph_file.h"
#include "io/image.h"
#include "io/monitors/event_writer.h"
#include "tensor/error.h"
#include "tensor/ops.h"
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

}  // namespace
}  // namespace firn::cli
