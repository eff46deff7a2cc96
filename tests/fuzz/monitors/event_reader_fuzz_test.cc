// Damaged event files give what was whole before the damage, or an error; damaged messages within
// good records, whose checksums hide nothing, never crash the reader.
#include <string>

#include "gtest/gtest.h"
#include "io/monitors/event_reader_status.h"
#include "io/monitors/event_writer.h"
#include "io/monitors/internal/records.h"
#include "tensor/from.h"
#include "tensor/ops.h"
#include "tests/fuzz/mutations.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

std::string WholeFile() {
  EventWriter events(TempPath("events"), {.purge_step = 3, .clock = [] { return 5.0; }});
  events.AddScalar("loss", 0.5, 3);
  events.AddHistogram("weights", FromValues({1.0, 2.0}), 3);
  events.AddImage("image", Ones({2, 2}), 3);
  events.AddText("note", "text", 3);
  events.AddGraph({{.name = "x", .op = "input", .output_shapes = {{2, 3}}},
                   {.name = "y", .inputs = {"x"}, .device = "cpu"}});
  return ReadFile(events.path());
}

// What the records of a file hold, one after the other.
std::vector<std::string> MessagesOf(const std::string& bytes) {
  const auto file = internal::RandomAccess::FromMemory(
      "f", {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  internal::RecordReader reader(*file);
  std::vector<std::string> messages;
  for (;;) {
    auto message = reader.Next(1 << 20);
    if (!message.ok() || !message->has_value()) return messages;
    messages.push_back(**message);
  }
}

TEST(EventReaderFuzzTest, DamagedFilesGiveWholeRecordsOrAnError) {
  const std::string whole = WholeFile();
  const size_t events = ParseEvents(whole, "f")->events.size();
  ASSERT_EQ(events, 7u);
  int64_t errors = 0;
  testing::FuzzText(whole, 3000, [&](const std::string& damaged) {
    const absl::StatusOr<EventFile> file = ParseEvents(damaged, "f");
    if (file.ok()) {
      EXPECT_LE(file->whole_bytes, static_cast<int64_t>(damaged.size()));
    } else {
      ++errors;
      EXPECT_TRUE(std::string(file.status().message()).starts_with("f: offset "));
    }
  });
  EXPECT_GT(errors, static_cast<int64_t>(whole.size()));
}

TEST(EventReaderFuzzTest, DamagedMessagesNeverCrash) {
  int64_t errors = 0, read = 0;
  for (const std::string& message : MessagesOf(WholeFile())) {
    testing::FuzzText(message, 5000, [&](const std::string& damaged) {
      const absl::StatusOr<EventFile> file = ParseEvents(internal::RecordOf(damaged), "f");
      ++(file.ok() ? read : errors);
      for (const Event& event : file.ok() ? file->events : std::vector<Event>()) {
        for (const TaggedHistogram& h : event.histograms) {
          EXPECT_EQ(h.histogram.buckets.size(), h.histogram.bucket_limits.size());
        }
      }
    });
  }
  EXPECT_GT(errors, 1000);
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace firn::io
