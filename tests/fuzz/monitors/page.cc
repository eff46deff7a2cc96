// For any contents of an event file the page of a run is made, and none of the contents becomes
// markup.
#include "tools/firn/monitor/page.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "firn/io/monitors/event_writer.h"
#include "firn/io/monitors/tfrecord.h"
#include "firn/tensor/ops.h"
#include "tests/fuzz/monitors/messages.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/scratch.h"
#include "tests/io/test_files.h"
#include "tools/firn/monitor/collector.h"

namespace firn::cli {
namespace {

using testing::FuzzCheck;

// The message of a record whose checksum is right. A file counts as read if its page is made
// without a complaint.
FIRN_FUZZ_READER(page) {
  const std::string folder = testing::ScratchFolder("page");
  testing::SplitIntoFolder(io::RecordOf(bytes), {"events.out.tfevents.1"}, folder);
  Collector collector(folder);
  FuzzCheck(collector.Update().ok(), "the folder can be read");
  const RunContents contents = collector.Contents();
  const std::string page = RenderPage(contents, {.title = "fuzz", .smoothing = 0.5});
  FuzzCheck(page.find("<script") == std::string::npos, "there are no scripts");
  FuzzCheck(std::count(page.begin(), page.end(), '<') == std::count(page.begin(), page.end(), '>'),
            "what opens is closed");
  return contents.problems.empty();
}

// The messages of a small event file, one after the other: to protocol buffers, one message.
FIRN_FUZZ_SEEDS(page) {
  std::string path, all;
  {
    io::EventWriter events(io::TempPath("whole"));
    path = events.path();
    events.AddScalar("a<b", 0.5, 3);
    events.AddHistogram("h", Arange(0, 4), 3);
    events.AddImage("i", Full({1, 2, 2}, 0.5), 3);
    events.AddText("t", "<script>x</script>", 3);
    events.AddGraph({{.name = "x"}, {.name = "n/<relu>", .op = "relu", .inputs = {"x"}}});
  }
  for (const std::string& message : testing::EventMessages(path)) all += message;
  return {all};
}

}  // namespace
}  // namespace firn::cli
