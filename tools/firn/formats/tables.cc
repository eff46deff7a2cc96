// Text and events that grow: read one record at a time; only statistics are kept.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/csv_cells.h"
#include "firn/io/csv/csv_reader.h"
#include "firn/io/monitors/event_messages.h"
#include "firn/io/monitors/line_file.h"
#include "firn/io/monitors/record_parsers.h"
#include "firn/io/monitors/record_pieces.h"
#include "firn/io/monitors/series_status.h"
#include "firn/io/monitors/tfrecord.h"
#include "firn/io/random_access.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/error.h"
#include "tools/firn/files.h"

namespace firn::cli {
namespace {

using io::CellError;
using io::CsvText;
using io::Damaged;
using io::ForEachCsvRow;
using io::ForEachRecord;
using io::ParseCell;
using io::ParseJsonRecord;
using io::RandomAccess;
using io::ReadEvent;
using io::RecordReader;
using io::RecordValue;
using io::SplitLine;
using io::ValueOrRaise;

constexpr int64_t kMostRecord = int64_t{64} << 20;  // bytes
constexpr size_t kMostColumns = 10'000;

// Columns by their names, in the order in which they come.
class Columns {
 public:
  explicit Columns(FileContents* contents) : contents_(contents) {}
  absl::StatusOr<Column*> Find(std::string_view name) {
    const auto found = places_.find(name);
    if (found != places_.end()) return &contents_->columns[found->second];
    FIRN_RETURN_IF(places_.size() == kMostColumns,
                   ResourceExhausted("more than ", kMostColumns, " columns"));
    places_.emplace(name, contents_->columns.size());
    contents_->columns.push_back({.name = std::string(name)});
    return &contents_->columns.back();
  }

 private:
  FileContents* const contents_;
  std::map<std::string, size_t, std::less<>> places_;
};

void AddValue(const RecordValue& value, Column* column) {
  const RecordValue::Kind kind = value.kind();
  if (kind == RecordValue::Kind::kNone || kind == RecordValue::Kind::kText) {
    ++column->others;
  } else {
    column->statistics.Add(value.number());
  }
}

std::unique_ptr<RandomAccess> OpenOrRaise(const std::string& path) {
  return ValueOrRaise(RandomAccess::Open(path), "file");
}

// All whole records of a text, and how many there are.
void ReadText(const std::string& path, absl::FunctionRef<size_t(std::string_view)> split,
              absl::FunctionRef<absl::Status(std::string_view)> take, FileContents* contents) {
  const auto file = OpenOrRaise(path);
  int64_t offset = 0, records = 0;
  const auto count = [&](std::string_view record) {
    ++records;
    return take(record);
  };
  RaiseIfError(ForEachRecord(*file, kMostRecord, split, count, &offset), "file");
  contents->facts = {{"records", records}, {"cut off", offset != file->size()}};
}

// Statistics of series, which `parse` makes from each line, one point at a time.
FileContents ReadLines(const std::string& path,
                       absl::FunctionRef<absl::Status(std::string_view, Columns*)> parse) {
  FileContents contents;
  Columns columns(&contents);
  ReadText(
      path, SplitLine, [&](std::string_view line) { return parse(line, &columns); }, &contents);
  return contents;
}

absl::Status AddNumber(const char* name, double value, Columns* columns) {
  FIRN_ASSIGN_OR_RETURN(Column* const column, columns->Find(name));
  column->statistics.Add(value);
  return absl::OkStatus();
}

absl::Status AddTimerLine(std::string_view line, Columns* columns) {
  FIRN_ASSIGN_OR_RETURN(const io::Series total, io::TryParseTimer(line, "line"));
  FIRN_ASSIGN_OR_RETURN(const io::Series step,
                        io::TryParseTimer(line, "line", io::TimerColumn::kPerStep));
  FIRN_RETURN_IF_ERROR(AddNumber("index", total.x[0], columns));
  FIRN_RETURN_IF_ERROR(AddNumber("seconds a step", step.y[0], columns));
  return AddNumber("seconds in total", total.y[0], columns);
}

absl::Status AddSeriesLine(std::string_view line, Columns* columns) {
  FIRN_ASSIGN_OR_RETURN(const io::Series series, io::TryParseSeries(line, "line"));
  FIRN_RETURN_IF_ERROR(AddNumber("index", series.x[0], columns));
  return AddNumber("value", series.y[0], columns);
}

absl::Status AddJsonLine(std::string_view line, Columns* columns) {
  line.remove_suffix(1);
  FIRN_ASSIGN_OR_RETURN(const io::JsonLinesWriter::Fields fields,
                        ParseJsonRecord(line, kMostColumns));
  for (const auto& [name, value] : fields) {
    FIRN_ASSIGN_OR_RETURN(Column* const column, columns->Find(name));
    AddValue(value, column);
  }
  return absl::OkStatus();
}

// A cell is a number if LoadCsv takes it for one, in f64.
void AddCell(const io::CsvField& field, Column* column) {
  double number = 0;
  if (ParseCell(field.text, true, &number) == CellError::kNone) {
    column->statistics.Add(number);
  } else {
    ++column->others;
  }
}

// Columns without a heading are named by their numbers. A first row without any number is one.
FileContents ReadTable(const std::string& path) {
  FileContents contents;
  CsvText text = ValueOrRaise(CsvText::Open(path, std::numeric_limits<int64_t>::max()), "csv");
  int64_t rows = 0;
  bool first = true, cut_off = false;
  const auto take = [&](const std::vector<io::CsvField>& fields) -> absl::Status {
    if (std::exchange(first, false)) {
      FIRN_RETURN_IF(fields.size() > kMostColumns,
                     ResourceExhausted("more than ", kMostColumns, " columns"));
      const bool heading = std::none_of(fields.begin(), fields.end(), [](const auto& field) {
        Column alone;
        AddCell(field, &alone);
        return alone.others == 0;
      });
      for (size_t i = 0; i < fields.size(); ++i) {
        contents.columns.push_back({.name = heading ? io::WordOf(fields[i]) : absl::StrCat(i)});
      }
      if (heading) return absl::OkStatus();
    }
    ++rows;
    for (size_t i = 0; i < fields.size(); ++i) AddCell(fields[i], &contents.columns[i]);
    return absl::OkStatus();
  };
  RaiseIfError(
      ForEachCsvRow(&text, {.may_be_cut = true, .max_record = kMostRecord}, take, &cut_off), "csv");
  contents.facts = {{"records", rows}, {"cut off", cut_off}};
  return contents;
}

// The number of things of each kind in an event file.
struct EventCounts {
  int64_t events = 0, images = 0, histograms = 0, texts = 0, graph_nodes = 0;
  int64_t first_step = 0, last_step = 0;
};

absl::Status CountEvent(const io::Event& event, EventCounts* counts, Columns* columns) {
  if (counts->events++ == 0) counts->first_step = counts->last_step = event.step;
  counts->first_step = std::min(counts->first_step, event.step);
  counts->last_step = std::max(counts->last_step, event.step);
  counts->images += static_cast<int64_t>(event.images.size());
  counts->histograms += static_cast<int64_t>(event.histograms.size());
  counts->texts += static_cast<int64_t>(event.texts.size());
  counts->graph_nodes += static_cast<int64_t>(event.graph.size());
  for (const io::EventScalar& scalar : event.scalars) {
    FIRN_ASSIGN_OR_RETURN(Column* const column, columns->Find(scalar.tag));
    column->statistics.Add(static_cast<double>(scalar.value));
  }
  return absl::OkStatus();
}

absl::Status ReadEvents(const RandomAccess& file, FileContents* contents) {
  RecordReader reader(file);
  Columns columns(contents);
  EventCounts counts;
  for (;;) {
    const int64_t offset = reader.offset();
    FIRN_ASSIGN_OR_RETURN(const auto record, reader.Next(kMostRecord));
    if (!record.has_value()) break;
    io::Event event;
    absl::Status status = ReadEvent(*record, &event);
    if (status.ok()) status = CountEvent(event, &counts, &columns);
    if (!status.ok()) {
      return Damaged(file.name(), offset, "record", std::string(status.message()));
    }
  }
  contents->facts = {
      {"events", counts.events},           {"first step", counts.first_step},
      {"last step", counts.last_step},     {"images", counts.images},
      {"histograms", counts.histograms},   {"texts", counts.texts},
      {"graph nodes", counts.graph_nodes}, {"cut off", reader.offset() != file.size()}};
  return absl::OkStatus();
}

}  // namespace

FIRN_FILE_CONTENTS(series, "series") {
  return
      [](const std::string& path, const io::LoadLimits&) { return ReadLines(path, AddSeriesLine); };
}

FIRN_FILE_CONTENTS(timer, "timer") {
  return
      [](const std::string& path, const io::LoadLimits&) { return ReadLines(path, AddTimerLine); };
}

FIRN_FILE_CONTENTS(jsonl, "JSON lines") {
  return
      [](const std::string& path, const io::LoadLimits&) { return ReadLines(path, AddJsonLine); };
}

FIRN_FILE_CONTENTS(csv, "CSV") {
  return [](const std::string& path, const io::LoadLimits&) { return ReadTable(path); };
}

FIRN_FILE_CONTENTS(events, "TensorBoard events") {
  return [](const std::string& path, const io::LoadLimits&) {
    FileContents contents;
    RaiseIfError(ReadEvents(*OpenOrRaise(path), &contents), "events");
    return contents;
  };
}

}  // namespace firn::cli
