#ifndef FIRN_IO_INTERNAL_LINE_INDEX_H_
#define FIRN_IO_INTERNAL_LINE_INDEX_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "firn/io/internal/random_access.h"

namespace firn::io::internal {

// The lines of a text file by their numbers, of which only the beginnings are kept. Thread-safe.
class LineIndex {
 public:
  // Reads the file once. DataLoss for an empty line that others follow, InvalidArgument for gzip,
  // ResourceExhausted for a line of more than `max_line` bytes.
  static absl::StatusOr<LineIndex> Make(std::unique_ptr<RandomAccess> file, int64_t max_line);

  int64_t size() const { return static_cast<int64_t>(begins_.size()) - 1; }
  // Line `i`, from 0, without its end and a byte order mark. Requires: i < size().
  absl::StatusOr<std::string> Get(int64_t i) const;

 private:
  explicit LineIndex(std::unique_ptr<RandomAccess> file) : file_(std::move(file)) {}
  absl::Status Add(int64_t begin, int64_t end, bool blank, int64_t max_line);

  std::unique_ptr<RandomAccess> file_;
  std::vector<int64_t> begins_ = {0};  // of each line, and where one after the last would begin
  int64_t blank_ = 0;                  // the first empty line, from 1; 0: none yet
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_INTERNAL_LINE_INDEX_H_
