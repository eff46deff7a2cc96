// The text goes through a buffer of a fixed size, record after record; fields point into it. The
// first empty line is remembered, since empty lines are allowed only at the end.
#include "firn/io/csv/csv_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/io/csv/internal/csv_records.h"
#include "firn/io/internal/byte_source.h"

namespace firn::io {
namespace {

using internal::ByteSource;
using internal::Field;
using internal::ForEachRecord;
using internal::IsBlank;
using internal::SplitRecord;

constexpr int64_t kPiece = 1 << 18;

// A line of separators that are tabs or blanks is a row of empty fields.
bool IsEmpty(std::string_view record, char separator) {
  return std::all_of(record.begin(), record.end(),
                     [&](char c) { return c != separator && IsBlank(c); });
}

// Counts and checks rows, and says where they are.
class RowChecker {
 public:
  RowChecker(const std::string& name, const CsvFormat& format, CsvFields row)
      : name_(name), format_(format), row_(row) {}

  absl::Status Add(std::string_view record, int64_t line, bool ended) {
    if (line <= format_.skip_lines) return absl::OkStatus();
    if (IsEmpty(record, format_.separator)) {
      if (empty_ == 0) empty_ = line;
      return absl::OkStatus();
    }
    FIRN_RETURN_IF(empty_ != 0,
                   DataLoss(name_, ": line ", empty_, ": expected a row, got an empty line"));
    absl::Status status = SplitRecord(record, format_.separator, &fields_);
    if (columns_ == 0) columns_ = fields_.size();
    const bool whole = status.ok() && fields_.size() == columns_;
    if (!whole && !ended && format_.may_be_cut) {
      cut_off_ = true;
      return absl::OkStatus();
    }
    FIRN_RETURN_IF(status.ok() && !whole, DataLoss(name_, ": line ", line, ": expected ", columns_,
                                                   " columns, got ", fields_.size()));
    if (status.ok()) status = row_(fields_);
    if (status.ok()) [[likely]]
      return status;
    return absl::Status(status.code(),
                        absl::StrCat(name_, ": line ", line, ", ", std::string(status.message())));
  }
  bool cut_off() const { return cut_off_; }

 private:
  const std::string& name_;
  const CsvFormat& format_;
  const CsvFields row_;
  std::vector<Field> fields_;
  size_t columns_ = 0;
  int64_t empty_ = 0;  // the first empty line; 0: none yet
  bool cut_off_ = false;
};

}  // namespace

CsvText::CsvText(std::string_view text, std::string name) : name_(std::move(name)), piece_(text) {}
CsvText::CsvText(CsvText&&) noexcept = default;
CsvText& CsvText::operator=(CsvText&&) noexcept = default;
CsvText::~CsvText() = default;

absl::StatusOr<CsvText> CsvText::Open(const std::string& path, int64_t max_bytes) {
  CsvText text({}, path);
  FIRN_ASSIGN_OR_RETURN(text.source_, ByteSource::Open(path));
  text.max_bytes_ = max_bytes;
  text.buffer_.resize(static_cast<size_t>(kPiece));
  return text;
}

absl::StatusOr<std::string_view> CsvText::Next() {
  if (source_ == nullptr) return std::exchange(piece_, {});
  FIRN_ASSIGN_OR_RETURN(const int64_t n, source_->ReadUpTo(buffer_.data(), kPiece, "text"));
  FIRN_RETURN_IF(source_->offset() > max_bytes_,
                 ResourceExhausted(name_, ": holds more than the ", max_bytes_,
                                   " bytes allowed (limits.max_total_bytes)"));
  return std::string_view(buffer_).substr(0, static_cast<size_t>(n));
}

absl::Status ForEachCsvRow(CsvText* text, const CsvFormat& format, CsvFields row, bool* cut_off) {
  const char s = format.separator;
  FIRN_RETURN_IF(s == '\n' || s == '\r' || s == '"',
                 InvalidArgument("csv: a line's end or a quote cannot be the separator"));
  FIRN_RETURN_IF(format.skip_lines < 0,
                 InvalidArgument("csv: skip_lines is ", format.skip_lines, " (want >= 0)"));
  RowChecker checker(text->name(), format, row);
  const absl::Status status = ForEachRecord([&] { return text->Next(); }, text->name(), s,
                                            format.skip_lines, format.max_record,
                                            [&](std::string_view record, int64_t line, bool ended) {
                                              return checker.Add(record, line, ended);
                                            });
  if (cut_off != nullptr) *cut_off = checker.cut_off();
  return absl::IsCancelled(status) ? absl::OkStatus() : status;
}

}  // namespace firn::io
