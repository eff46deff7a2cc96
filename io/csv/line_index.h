#ifndef FIRN_IO_CSV_LINE_INDEX_H_
#define FIRN_IO_CSV_LINE_INDEX_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/random_access.h"

namespace firn::io {

// Finds the records of a CSV file by their numbers. Keeps only where records begin and where lines
// end within quotes. Thread-safe.
class LineIndex {
 public:
  // Reads the file once. DataLoss for an empty line that others follow, InvalidArgument for gzip,
  // ResourceExhausted for a record of more than `max_line` bytes.
  static absl::StatusOr<LineIndex> Make(std::unique_ptr<RandomAccess> file, char separator,
                                        int64_t max_line);

  int64_t size() const { return static_cast<int64_t>(begins_.size()) - 1; }
  // Record `i`, from 0, without its line's end and a byte order mark. Requires: i < size().
  absl::StatusOr<std::string> Get(int64_t i) const;
  // The same with its line's end, if it has one.
  absl::StatusOr<std::string> GetWhole(int64_t i) const;
  // The number of its first line, from 1.
  int64_t LineOf(int64_t i) const;

 private:
  explicit LineIndex(std::unique_ptr<RandomAccess> file) : file_(std::move(file)) {}
  absl::Status Add(int64_t end, bool blank, int64_t inner_lines, int64_t max_line);

  std::unique_ptr<RandomAccess> file_;
  std::vector<int64_t> begins_ = {0};  // of each record, and where one after the last would begin
  // After which records there are how many lines more than records.
  struct More {
    int64_t record, lines;
  };
  std::vector<More> more_ = {};
  int64_t blank_ = 0;  // the first empty line, from 1; 0: none yet
};

}  // namespace firn::io

#endif  // FIRN_IO_CSV_LINE_INDEX_H_
