// A record is written by one call, so that a killed process leaves at most a part of the last one.
#include "firn/io/monitors/record_writer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/io/monitors/internal/append_file.h"
#include "firn/io/monitors/internal/open_records.h"
#include "firn/io/monitors/line_file.h"
#include "firn/io/monitors/record_parsers.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using inner::internal::CsvField;
using inner::internal::JsonString;
using internal::AppendFile;
using internal::OpenRecords;

// Text that would be read as another kind of value in a CSV file needs quotes; an empty text is "".
std::string CsvText(const std::string& text) {
  std::string field = CsvField(text);
  const bool same = ParseCsvValue(internal::Trim(text), false) == RecordValue(text);
  if (!field.starts_with('"') && !same) {
    field = absl::StrCat("\"", field, "\"");
  }
  return field;
}

std::string CsvOf(const RecordValue& value) {
  switch (value.kind()) {
    case RecordValue::Kind::kNone:
      return "";
    case RecordValue::Kind::kBool:
      return value.integer() != 0 ? "true" : "false";
    case RecordValue::Kind::kInteger:
      return absl::StrCat(value.integer());
    case RecordValue::Kind::kNumber:
      break;
    case RecordValue::Kind::kText:
      return CsvText(value.text());
  }
  return NumberText(value.number(), "nan", "inf");
}

std::string JsonOf(const RecordValue& value) {
  switch (value.kind()) {
    case RecordValue::Kind::kNone:
      return "null";
    case RecordValue::Kind::kText:
      return JsonString(value.text());
    case RecordValue::Kind::kNumber:
      break;
    default:
      return CsvOf(value);
  }
  const std::string text = NumberText(value.number(), "NaN", "Infinity");
  return std::isfinite(value.number()) ? text : JsonString(text);
}

internal::AppendFile Opened(absl::StatusOr<internal::AppendFile> file, const char* who) {
  RaiseIfError(file.status(), who);
  return *std::move(file);
}

// Whether a record that stands in a file comes before the first one of a run that goes on.
bool IsBefore(const RecordValue& index, int64_t resume_at) {
  const bool is_index =
      index.kind() == RecordValue::Kind::kInteger || index.kind() == RecordValue::Kind::kNumber;
  return is_index && index.number() < static_cast<double>(resume_at);
}

}  // namespace

double RecordValue::number() const {
  switch (kind_) {
    case Kind::kNumber:
      return number_;
    case Kind::kBool:
    case Kind::kInteger:
      return static_cast<double>(integer_);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

bool RecordValue::Equals(const RecordValue& other) const {
  const bool numbers =
      number_ == other.number_ || (std::isnan(number_) && std::isnan(other.number_));
  return kind_ == other.kind_ && integer_ == other.integer_ && numbers && text_ == other.text_;
}

struct CsvWriter::Impl {
  size_t columns;
  internal::AppendFile file;
};

CsvWriter::CsvWriter(const std::string& path, std::vector<std::string> columns,
                     const RecordWriterOptions& options) {
  constexpr char kWho[] = "csv writer";
  if (columns.empty()) RaiseStatus(InvalidArgument(path, ": there are no columns"), kWho);
  std::string heading;
  for (const std::string& column : columns) {
    absl::StrAppend(&heading, heading.empty() ? "" : ",", CsvText(column));
  }
  heading += "\n";
  if (std::set<std::string>(columns.begin(), columns.end()).size() != columns.size()) {
    RaiseStatus(InvalidArgument(path, ": two columns have one name: ", heading), kWho);
  }
  std::function<bool(std::string_view)> keep;
  bool first = true;
  absl::Status other_columns;
  if (options.resume_at.has_value()) {
    // A heading that differs is kept, so that the file of another run stays whole.
    keep = [&](std::string_view record) {
      if (std::exchange(first, false)) {
        if (record != heading) {
          other_columns = InvalidArgument(path, ": the file has the columns ", JsonString(record),
                                          " (want ", JsonString(heading), ")");
        }
        return true;
      }
      if (!other_columns.ok()) return true;
      const absl::StatusOr<std::vector<RecordValue>> values = ParseCsvRecord(record);
      return values.ok() && values->size() == columns.size() &&
             IsBefore(values->front(), *options.resume_at);
    };
  }
  impl_.reset(new Impl{
      columns.size(),
      Opened(OpenRecords(path, SplitCsvRecord, keep, [&] { return other_columns; }), kWho)});
  if (impl_->file.size() == 0) RaiseIfError(impl_->file.Append(heading), kWho);
}
CsvWriter::~CsvWriter() = default;
CsvWriter::CsvWriter(CsvWriter&&) noexcept = default;
CsvWriter& CsvWriter::operator=(CsvWriter&&) noexcept = default;

void CsvWriter::Write(const std::vector<RecordValue>& values) {
  if (values.size() != impl_->columns) {
    RaiseStatus(InvalidArgument(path(), ": ", values.size(), " values (want ", impl_->columns,
                                ", one for each column)"),
                "csv writer");
  }
  std::string record;
  for (size_t i = 0; i < values.size(); ++i) {
    absl::StrAppend(&record, i == 0 ? "" : ",", CsvOf(values[i]));
  }
  RaiseIfError(impl_->file.Append(record + "\n"), "csv writer");
}

const std::string& CsvWriter::path() const { return impl_->file.path(); }

struct JsonLinesWriter::Impl {
  internal::AppendFile file;
};

JsonLinesWriter::JsonLinesWriter(const std::string& path, const RecordWriterOptions& options) {
  std::function<bool(std::string_view)> keep;
  absl::Status foreign;
  if (options.resume_at.has_value()) {
    // Lines that are no records are kept, so that another program's file stays whole.
    keep = [&](std::string_view line) {
      const absl::StatusOr<Fields> fields = ParseJsonRecord(line);
      if (fields.ok() && !fields->empty()) {
        return IsBefore(fields->front().second, *options.resume_at);
      }
      if (foreign.ok()) {
        foreign = fields.ok() ? DataLoss(path, ": expected a record, got an empty object")
                              : DataLoss(path, ": ", std::string(fields.status().message()));
      }
      return true;
    };
  }
  impl_.reset(new Impl{
      Opened(OpenRecords(path, SplitLine, keep, [&] { return foreign; }), "json lines writer")});
}
JsonLinesWriter::~JsonLinesWriter() = default;
JsonLinesWriter::JsonLinesWriter(JsonLinesWriter&&) noexcept = default;
JsonLinesWriter& JsonLinesWriter::operator=(JsonLinesWriter&&) noexcept = default;

void JsonLinesWriter::Write(const Fields& fields) {
  std::set<std::string_view> names;
  std::string line = "{";
  for (const auto& [name, value] : fields) {
    if (!names.insert(name).second) {
      RaiseStatus(InvalidArgument(path(), ": the name ", JsonString(name), " stands twice"),
                  "json lines writer");
    }
    absl::StrAppend(&line, line.size() == 1 ? "" : ", ", JsonString(name), ": ", JsonOf(value));
  }
  RaiseIfError(impl_->file.Append(line + "}\n"), "json lines writer");
}

const std::string& JsonLinesWriter::path() const { return impl_->file.path(); }

}  // namespace firn::io
