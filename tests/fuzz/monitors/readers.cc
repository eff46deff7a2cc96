// Reads files of monitors and of writers of events and records. Damaged files give the records
// before the damage, or an error that names the file.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/monitors/event_reader_status.h"
#include "firn/io/monitors/event_writer.h"
#include "firn/io/monitors/record_reader_status.h"
#include "firn/io/monitors/series_status.h"
#include "firn/io/monitors/tfrecord.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "tests/fuzz/monitors/messages.h"
#include "tests/fuzz/reader.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::FuzzCheck;

// Whether it was read; an error begins with `prefix`.
template <class T>
bool Ok(const absl::StatusOr<T>& result, const std::string& prefix) {
  if (result.ok()) return true;
  FuzzCheck(std::string(result.status().message()).starts_with(prefix),
            "the error names the place");
  return false;
}

bool ReadEventFile(std::string_view bytes) {
  const absl::StatusOr<EventFile> file = TryParseEvents(bytes, "f", testing::kFuzzLimits);
  if (!Ok(file, "f: offset ")) return false;
  FuzzCheck(file->whole_bytes <= static_cast<int64_t>(bytes.size()), "records lie in the file");
  for (const Event& event : file->events) {
    for (const TaggedHistogram& h : event.histograms) {
      FuzzCheck(h.histogram.buckets.size() == h.histogram.bucket_limits.size(),
                "each bucket has an edge");
    }
  }
  return true;
}

// Reads the bytes as a file, and as the message of a record with a right checksum, since checksums
// stop nearly every mutation.
FIRN_FUZZ_READER(events) {
  const bool read = ReadEventFile(bytes);
  return ReadEventFile(RecordOf(bytes)) || read;
}

FIRN_FUZZ_SEEDS(events) {
  std::string path;
  {
    EventWriter events(TempPath("events"), {.purge_step = 3, .clock = [] { return 5.0; }});
    path = events.path();
    events.AddScalar("loss", 0.5, 3);
    events.AddHistogram("weights", FromValues({1.0, 2.0}), 3);
    events.AddImage("image", Ones({2, 2}), 3);
    events.AddText("note", "text", 3);
    events.AddGraph({{.name = "x", .op = "input", .output_shapes = {{2, 3}}},
                     {.name = "y", .inputs = {"x"}, .device = "cpu"}});
  }
  std::vector<std::string> seeds = testing::EventMessages(path);
  seeds.push_back(ReadFile(path));
  return seeds;
}

bool ReadTable(std::string_view text, const std::string& name) {
  const absl::StatusOr<Records> records = TryParseRecords(text, name, testing::kFuzzLimits);
  if (!Ok(records, name)) return false;
  for (const auto& row : records->rows) {
    FuzzCheck(row.size() == records->columns.size(), "each row has a value for each column");
  }
  FuzzCheck(SeriesOf(*records).size() <= records->columns.size(), "series are columns");
  return true;
}

FIRN_FUZZ_READER(records_csv) { return ReadTable(bytes, "f.csv"); }

FIRN_FUZZ_SEEDS(records_csv) {
  return {
      "step,loss,\"a \"\"note\"\"\"\n1,0.5,\"x, y\"\n2,nan,\"two\nlines\"\n3,-inf,\n4,true,z\n"};
}

FIRN_FUZZ_READER(records_jsonl) { return ReadTable(bytes, "f.jsonl"); }

FIRN_FUZZ_SEEDS(records_jsonl) {
  return {
      "{\"step\": 1, \"loss\": 0.5, \"note\": \"\\u00e4\\ud83d\\ude00\\n\"}\n"
      "{\"step\": 2, \"loss\": \"NaN\", \"ok\": true, \"none\": null}\n{}\n{\"step\": -3e5}\n"};
}

bool IsSeriesOf(std::string_view text, const absl::StatusOr<Series>& series) {
  if (!Ok(series, "f: line ")) return false;
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  FuzzCheck(series->x.size() == lines && series->y.size() == lines, "each line is a point");
  return true;
}

FIRN_FUZZ_READER(series) { return IsSeriesOf(bytes, TryParseSeries(bytes, "f")); }

FIRN_FUZZ_SEEDS(series) { return {"0 0.5\n10 -1e-3\n20 nan\n30 inf\n40 12345\n"}; }

FIRN_FUZZ_READER(timer) {
  return IsSeriesOf(bytes, TryParseTimer(bytes, "f", TimerColumn::kPerStep));
}

FIRN_FUZZ_SEEDS(timer) { return {"9 1.5 10 1.5\n19 2.25 10 3.75\n29 0.5 10 4.25\n"}; }

}  // namespace
}  // namespace firn::io
