// Whatever stands in an event file, the page of a run is made, and nothing of it is markup.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "io/internal/random_access.h"
#include "io/monitors/event_writer.h"
#include "io/monitors/internal/records.h"
#include "tensor/ops.h"
#include "tests/fuzz/mutations.h"
#include "tests/io/test_files.h"
#include "tools/firn/monitor/collector.h"
#include "tools/firn/monitor/page.h"

namespace firn::cli {
namespace {

// The messages of a small event file, one after the other: to protocol buffers, one message.
std::string Messages() {
  std::string path;
  {
    io::EventWriter events(io::TempPath("whole"));
    path = events.path();
    events.AddScalar("a<b", 0.5, 3);
    events.AddHistogram("h", Arange(0, 4), 3);
    events.AddImage("i", Full({1, 2, 2}, 0.5), 3);
    events.AddText("t", "<script>x</script>", 3);
    events.AddGraph({{.name = "x"}, {.name = "n/<relu>", .op = "relu", .inputs = {"x"}}});
  }
  const auto file = *io::internal::RandomAccess::Open(path);
  io::internal::RecordReader reader(*file);
  std::string all;
  for (;;) {
    const std::optional<std::string> record = *reader.Next(1 << 20);
    if (!record.has_value()) return all;
    all += *record;
  }
}

TEST(PageFuzzTest, AnyEventsMakeAPage) {
  const std::string folder = io::TempPath("run"), path = folder + "/events.out.tfevents.1";
  std::filesystem::create_directories(folder);
  int64_t errors = 0, drawn = 0;
  testing::FuzzText(Messages(), 5000, [&](const std::string& damaged) {
    io::WriteFile(path, io::internal::RecordOf(damaged));
    Collector collector(folder);
    ASSERT_TRUE(collector.Update().ok());
    const RunContents contents = collector.Contents();
    errors += contents.problems.empty() ? 0 : 1;
    drawn += contents.charts.empty() && contents.graphs.empty() ? 0 : 1;
    const std::string page = RenderPage(contents, {.title = "fuzz", .smoothing = 0.5});
    EXPECT_EQ(page.find("<script"), std::string::npos);
    EXPECT_EQ(std::count(page.begin(), page.end(), '<'), std::count(page.begin(), page.end(), '>'));
  });
  EXPECT_GT(errors, 100);
  EXPECT_GT(drawn, 100);
}

}  // namespace
}  // namespace firn::cli
