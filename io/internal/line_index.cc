// The file is read in blocks of a fixed size, and is kept open: lines are read again when they are
// asked for. Lines follow each other without gaps, so that one ends where the next begins.
#include "firn/io/internal/line_index.h"

#include <algorithm>
#include <cstring>

#include "firn/device/status_macros.h"
#include "firn/io/internal/csv_line.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kBlock = 1 << 20;

}  // namespace

absl::Status LineIndex::Add(int64_t begin, int64_t end, bool blank, int64_t max_line) {
  const int64_t number = size() + 1;
  if (blank) {
    if (blank_ == 0) blank_ = number;
    return absl::OkStatus();
  }
  FIRN_RETURN_IF(blank_ != 0,
                 DataLoss(file_->name(), ": line ", blank_, ": expected a row, got an empty line"));
  FIRN_RETURN_IF(end - begin > max_line,
                 ResourceExhausted(file_->name(), ": line ", number, ": more than the ", max_line,
                                   " bytes allowed"));
  begins_.push_back(end + 1);
  return absl::OkStatus();
}

absl::StatusOr<LineIndex> LineIndex::Make(std::unique_ptr<RandomAccess> file, int64_t max_line) {
  LineIndex index(std::move(file));
  const int64_t size = index.file_->size();
  std::string block(static_cast<size_t>(std::min(size, kBlock)), '\0');
  int64_t begin = 0;
  bool blank = true;
  for (int64_t at = 0; at < size; at += kBlock) {
    const int64_t n = std::min(size - at, kBlock);
    FIRN_RETURN_IF_ERROR(index.file_->ReadAt(at, block.data(), n, "lines"));
    FIRN_RETURN_IF(at == 0 && block.starts_with("\x1f\x8b"),
                   InvalidArgument(index.file_->name(), ": expected text, got gzip: unpack it"));
    const char* const end = block.data() + n;
    for (const char* p = block.data(); p != end;) {
      while (blank && p != end && IsBlank(*p)) ++p;
      if (p == end) break;
      blank = blank && *p == '\n';
      const auto* feed =
          static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
      if (feed == nullptr) break;
      const int64_t there = at + (feed - block.data());
      FIRN_RETURN_IF_ERROR(index.Add(begin, there, blank, max_line));
      begin = there + 1;
      blank = true;
      p = feed + 1;
    }
  }
  if (begin < size) FIRN_RETURN_IF_ERROR(index.Add(begin, size, blank, max_line));
  return index;
}

absl::StatusOr<std::string> LineIndex::Get(int64_t i) const {
  const int64_t begin = begins_[static_cast<size_t>(i)];
  std::string line(static_cast<size_t>(begins_[static_cast<size_t>(i + 1)] - 1 - begin), '\0');
  FIRN_RETURN_IF_ERROR(file_->ReadAt(begin, line.data(), static_cast<int64_t>(line.size()),
                                     "a line that was there when the file was opened"));
  if (i == 0 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  return line;
}

}  // namespace firn::io::internal
