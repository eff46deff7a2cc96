#ifndef FIRN_IO_CSV_CSV_READER_H_
#define FIRN_IO_CSV_CSV_READER_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/io/csv/csv_field.h"

namespace firn::io {

namespace internal {
class ByteSource;
}

// The text of a table: a file, unpacked where it is gzip, or memory. Thread-compatible.
class CsvText {
 public:
  // ResourceExhausted once there are more than `max_bytes` bytes, unpacked.
  static absl::StatusOr<CsvText> Open(const std::string& path, int64_t max_bytes);
  // `text` must outlive it; `name` stands for the path in messages.
  CsvText(std::string_view text, std::string name);
  CsvText(CsvText&&) noexcept;
  CsvText& operator=(CsvText&&) noexcept;
  ~CsvText();

  const std::string& name() const { return name_; }
  // The next piece of the text, valid until the next call. Empty at the end.
  absl::StatusOr<std::string_view> Next();

 private:
  std::string name_;
  std::string_view piece_;
  std::unique_ptr<internal::ByteSource> source_;  // null: memory
  std::string buffer_ = {};
  int64_t max_bytes_ = 0;
};

struct CsvFormat {
  char separator = ',';
  int64_t skip_lines = 0;
  // Leaves the last record out, and sets *cut_off, if it has no line end and is no whole row.
  bool may_be_cut = false;
  int64_t max_record = std::numeric_limits<int64_t>::max();  // bytes
};

using CsvFields = absl::FunctionRef<absl::Status(const std::vector<CsvField>& fields)>;

// The one reader of CSV tables: calls row(fields) for each row, the heading among them, all of
// which have as many fields, and adds file and line to what it returns. If row() returns Cancelled,
// it stops and returns OK. `cut_off` may be null. DataLoss for a text that is no table;
// InvalidArgument for a format that makes no sense.
absl::Status ForEachCsvRow(CsvText* text, const CsvFormat& format, CsvFields row,
                           bool* cut_off = nullptr);

}  // namespace firn::io

#endif  // FIRN_IO_CSV_CSV_READER_H_
