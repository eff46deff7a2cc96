#include "firn/io/monitors/event_reader.h"

#include <filesystem>
#include <string>

#include "firn/io/monitors/event_reader_status.h"
#include "firn/io/monitors/tfrecord.h"
#include "firn/io/wire/internal/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using internal::WireWriter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// An event with a summary of one value.
std::string ValueRecord(int64_t step, const WireWriter& value) {
  const WireWriter summary = WireWriter().Message(1, value);
  return RecordOf(WireWriter().Integer(2, step).Message(5, summary).bytes());
}

std::string ScalarRecord(int64_t step, const std::string& tag, float value) {
  return ValueRecord(step, WireWriter().Bytes(1, tag).Float(2, value));
}

TEST(EventReaderTest, ReadsTheNewerStyleOfOthers) {
  const auto plugin = [](const char* name) {
    return WireWriter().Message(1, WireWriter().Bytes(1, name));
  };
  const std::string content("\0\0\0\x3f", 4);  // 0.5f
  const std::string bytes =
      ValueRecord(1, WireWriter()
                         .Message(9, plugin("scalars"))
                         .Bytes(1, "a")
                         .Message(8, WireWriter().Integer(1, 1).Bytes(4, content))) +
      ValueRecord(2, WireWriter()
                         .Bytes(1, "a")
                         .Message(9, plugin("scalars"))
                         .Message(8, WireWriter().Integer(1, 1).Float(5, 0.25f))) +
      ValueRecord(3, WireWriter()
                         .Bytes(1, "t")
                         .Message(9, plugin("text"))
                         .Message(8, WireWriter().Bytes(8, "x").Bytes(8, "y"))) +
      ValueRecord(4, WireWriter()
                         .Bytes(1, "unknown")
                         .Message(9, plugin("hparams"))
                         .Message(8, WireWriter().Bytes(8, "x"))) +
      ValueRecord(5, WireWriter().Bytes(1, "h").Message(
                         5, WireWriter().Double(6, 1).Double(6, 2).PackedDoubles(7, {3, 4})));
  const EventFile file = *TryParseEvents(bytes, "f");
  ASSERT_EQ(file.events.size(), 5u);
  EXPECT_EQ(file.events[0].scalars.at(0).value, 0.5f);
  EXPECT_EQ(file.events[1].scalars.at(0).value, 0.25f);
  EXPECT_EQ(file.events[2].texts.at(0).text, "x\ny");
  EXPECT_TRUE(file.events[3].texts.empty());
  EXPECT_THAT(file.events[4].histograms.at(0).histogram.bucket_limits, ElementsAre(1, 2));
}

TEST(EventReaderTest, SaysWhenThereIsNoFile) {
  EXPECT_EQ(TryReadEvents(TempPath("nothing")).status().code(), absl::StatusCode::kNotFound);
}

TEST(EventReaderTest, LeavesOutAPartialLastRecord) {
  const std::string one = ScalarRecord(1, "a", 1), two = ScalarRecord(2, "a", 2);
  const EventFile whole = *TryParseEvents(one + two, "f");
  EXPECT_FALSE(whole.truncated);
  EXPECT_EQ(whole.whole_bytes, static_cast<int64_t>(one.size() + two.size()));
  for (size_t n = 1; n < two.size(); ++n) {
    const EventFile file = *TryParseEvents(one + two.substr(0, n), "f");
    EXPECT_TRUE(file.truncated);
    EXPECT_EQ(file.events.size(), 1u);
    EXPECT_EQ(file.whole_bytes, static_cast<int64_t>(one.size()));
  }
}

TEST(EventReaderTest, NamesWhatIsDamaged) {
  const std::string one = ScalarRecord(1, "a", 1);
  const auto error = [&](const std::string& data) {
    return TryParseEvents(one + RecordOf(data), "f").status().ToString();
  };
  const std::string at = "f: offset " + std::to_string(one.size()) + ", record: event: ";
  EXPECT_THAT(error("\x80"), HasSubstr(at + "offset 0: expected an integer, got the end"));
  EXPECT_THAT(error(WireWriter().Integer(1, 3).bytes()),
              HasSubstr(at + "offset 1, field 1: expected type 1, got 0"));
  const WireWriter histogram = WireWriter().PackedDoubles(6, {1, 2}).PackedDoubles(7, {1});
  const WireWriter value = WireWriter().Bytes(1, "h").Message(5, histogram);
  EXPECT_THAT(
      error(WireWriter().Message(5, WireWriter().Message(1, value)).bytes()),
      HasSubstr("summary: histogram, bucket: expected 2 counts, one for each limit, got 1"));
  std::string damaged = one;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_THAT(TryParseEvents(damaged, "f").status().ToString(), HasSubstr("f: offset 12, record"));
  EXPECT_EQ(TryParseEvents(one, "f", {.max_metadata_bytes = 3}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(ErrorOf([] { LoadEvents(TempPath("no-such-file")); }), HasSubstr("no-such-file"));
  EXPECT_THAT(ErrorOf([] { LoadEvents(::testing::TempDir()); }), HasSubstr("regular file"));
}

TEST(EventReaderTest, PutsFilesOfAFolderTogether) {
  const std::string folder = TempPath("folder");
  WriteFile(TempPath("folder.tfevents.1"), "");  // outside
  std::filesystem::create_directory(folder);
  EXPECT_THAT(ErrorOf([&] { LoadEventSeries(folder); }), HasSubstr("no event file"));
  WriteFile(folder + "/notes.txt", "no events");
  // Killed after step 4; a run that went on from step 3.
  WriteFile(folder + "/events.out.tfevents.1.a",
            ScalarRecord(1, "loss", 1) + ScalarRecord(2, "loss", 2) + ScalarRecord(3, "loss", 3) +
                ScalarRecord(3, "acc", 9) + ScalarRecord(4, "loss", 4).substr(0, 20));
  const WireWriter start = WireWriter().Integer(1, 1);
  WriteFile(
      folder + "/events.out.tfevents.2.a",
      RecordOf(WireWriter().Integer(2, 3).Message(7, start).bytes()) + ScalarRecord(3, "loss", 30));
  const std::vector<Series> series = LoadEventSeries(folder);
  ASSERT_EQ(series.size(), 2u);
  EXPECT_EQ(series[0].name, "loss");
  EXPECT_THAT(series[0].x, ElementsAre(1, 2, 3));
  EXPECT_THAT(series[0].y, ElementsAre(1, 2, 30));
  EXPECT_TRUE(series[1].x.empty());
  EXPECT_THAT(LoadEventSeries(folder + "/events.out.tfevents.2.a")[0].y, ElementsAre(30));
}

}  // namespace
}  // namespace firn::io
