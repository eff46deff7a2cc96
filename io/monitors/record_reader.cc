#include "firn/io/monitors/record_reader.h"

#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/byte_source.h"
#include "firn/io/monitors/line_file.h"
#include "firn/io/monitors/record_parsers.h"
#include "firn/io/monitors/record_reader_status.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

absl::Status In(const std::string& name, int64_t record, const absl::Status& status) {
  const char* const option =
      absl::IsResourceExhausted(status) ? " (limits.max_metadata_bytes)" : "";
  return absl::Status(status.code(), absl::StrCat(name, ": record ", record, ": ",
                                                  std::string(status.message()), option));
}

// The number that the limits allow.
size_t MostValues(const LoadLimits& limits) {
  return static_cast<size_t>(limits.max_metadata_bytes) / sizeof(RecordValue);
}

// Room for `rows` rows of `columns` values.
absl::Status Fits(const std::string& name, size_t rows, size_t columns, const LoadLimits& limits) {
  const size_t most = MostValues(limits);
  FIRN_RETURN_IF(
      rows > most || (columns > 0 && rows > most / columns),
      ResourceExhausted(name, ": ", rows, " records of ", columns, " values are more than the ",
                        most, " values allowed (limits.max_metadata_bytes)"));
  return absl::OkStatus();
}

absl::StatusOr<Records> ParseCsvText(std::string_view text, const std::string& name,
                                     const LoadLimits& limits) {
  Records records;
  int64_t number = 0;
  for (size_t n; (n = SplitCsvRecord(text)) != 0; text.remove_prefix(n)) {
    absl::StatusOr<std::vector<RecordValue>> values =
        ParseCsvRecord(text.substr(0, n), MostValues(limits));
    if (!values.ok()) return In(name, number, values.status());
    if (number++ == 0) {
      const bool heading = IsCsvHeading(*values);
      for (size_t i = 0; i < values->size(); ++i) {
        records.columns.push_back(heading ? (*values)[i].text() : absl::StrCat(i));
      }
      if (heading) continue;
    }
    FIRN_RETURN_IF(values->size() != records.columns.size(),
                   DataLoss(name, ": record ", number - 1, ": expected ", records.columns.size(),
                            " fields, got ", values->size()));
    FIRN_RETURN_IF_ERROR(Fits(name, records.rows.size() + 1, values->size(), limits));
    records.rows.push_back(*std::move(values));
  }
  return records;
}

absl::StatusOr<Records> ParseJsonText(std::string_view text, const std::string& name,
                                      const LoadLimits& limits) {
  Records records;
  std::map<std::string, size_t> places;
  int64_t number = 0;
  for (size_t n; (n = SplitLine(text)) != 0; text.remove_prefix(n)) {
    absl::StatusOr<JsonLinesWriter::Fields> fields =
        ParseJsonRecord(text.substr(0, n - 1), MostValues(limits));
    if (!fields.ok()) return In(name, number, fields.status());
    ++number;
    std::vector<RecordValue> row;
    for (auto& [column, value] : *fields) {
      const auto [place, added] = places.emplace(column, records.columns.size());
      if (added) records.columns.push_back(column);
      if (row.size() <= place->second) row.resize(place->second + 1);
      row[place->second] = std::move(value);
    }
    // All rows get all columns in the end.
    FIRN_RETURN_IF_ERROR(Fits(name, records.rows.size() + 1, records.columns.size(), limits));
    records.rows.push_back(std::move(row));
  }
  for (std::vector<RecordValue>& row : records.rows) row.resize(records.columns.size());
  return records;
}

}  // namespace

absl::StatusOr<Records> TryParseRecords(std::string_view text, const std::string& name,
                                        const LoadLimits& limits) {
  if (name.ends_with(".csv")) return ParseCsvText(text, name, limits);
  if (name.ends_with(".jsonl")) return ParseJsonText(text, name, limits);
  return InvalidArgument(name, ": expected a file that ends in .csv or .jsonl");
}

Records LoadRecords(const std::string& path, const LoadLimits& limits) {
  constexpr char kWho[] = "records";
  absl::StatusOr<std::unique_ptr<internal::ByteSource>> source = internal::ByteSource::Open(path);
  RaiseIfError(source.status(), kWho);
  const absl::StatusOr<std::string> text =
      (*source)->ReadAll(limits.max_total_bytes, "limits.max_total_bytes");
  RaiseIfError(text.status(), kWho);
  absl::StatusOr<Records> records = TryParseRecords(*text, path, limits);
  RaiseIfError(records.status(), kWho);
  return *std::move(records);
}

std::vector<Series> SeriesOf(const Records& records) {
  const auto is_number = [](const RecordValue& value) {
    return value.kind() != RecordValue::Kind::kNone && value.kind() != RecordValue::Kind::kText;
  };
  std::vector<Series> all;
  for (size_t column = 1; column < records.columns.size(); ++column) {
    Series series{.name = records.columns[column]};
    for (const std::vector<RecordValue>& row : records.rows) {
      if (!is_number(row[0]) || !is_number(row[column])) continue;
      series.x.push_back(row[0].number());
      series.y.push_back(row[column].number());
    }
    if (!series.x.empty()) all.push_back(std::move(series));
  }
  return all;
}

}  // namespace firn::io
