// The file is read in blocks of a fixed size, and is kept open: lines are read again when they are
// asked for. Lines follow each other without gaps, so that one ends where the next begins.
#include "firn/io/csv/line_index.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/csv/internal/csv_line.h"
#include "firn/io/csv/internal/csv_records.h"

namespace firn::io {
namespace {

using internal::CheckEncoding;
using internal::IsBlank;
using internal::kByteOrderMark;
using internal::RecordScanner;
using internal::WithoutLineEnd;

constexpr int64_t kBlock = 1 << 16;  // a block stays in the nearest cache

// The scanner goes through text by 64 bytes, each of which are to lie in one line of the cache.
struct alignas(64) CacheLine {
  char bytes[64];  // NOLINT: read over before it is looked at
};

}  // namespace

absl::Status LineIndex::Add(int64_t end, bool blank, int64_t inner_lines, int64_t max_line) {
  if (blank) {
    if (blank_ == 0) blank_ = LineOf(size());
    return absl::OkStatus();
  }
  FIRN_RETURN_IF(blank_ != 0,
                 DataLoss(file_->name(), ": line ", blank_, ": expected a row, got an empty line"));
  FIRN_RETURN_IF(end - begins_.back() - 1 > max_line,
                 ResourceExhausted(file_->name(), ": line ", LineOf(size()), ": more than the ",
                                   max_line, " bytes allowed (limits.max_metadata_bytes)"));
  begins_.push_back(end);
  if (inner_lines > 0) [[unlikely]] {
    const int64_t before = more_.empty() ? 0 : more_.back().lines;
    more_.push_back({size(), before + inner_lines});
  }
  return absl::OkStatus();
}

absl::StatusOr<LineIndex> LineIndex::Make(std::unique_ptr<RandomAccess> file, char separator,
                                          int64_t max_line) {
  LineIndex index(std::move(file));
  const RandomAccess& f = *index.file_;
  const int64_t size = f.size();
  std::vector<CacheLine> buffer(static_cast<size_t>(std::min(size, kBlock) / 64 + 1));
  char* const block = buffer[0].bytes;
  RecordScanner scanner(separator);
  bool blank = true;  // the present record, so far
  for (int64_t at = 0; at < size; at += kBlock) {
    const int64_t n = std::min(size - at, kBlock);
    FIRN_RETURN_IF_ERROR(f.ReadAt(at, block, n, "lines"));
    const std::string_view text(block, static_cast<size_t>(n));
    FIRN_RETURN_IF(at == 0 && text.starts_with("\x1f\x8b"),
                   InvalidArgument(f.name(), ": expected text, got gzip: unpack it"));
    if (at == 0) FIRN_RETURN_IF_ERROR(CheckEncoding(text, f.name()));
    const char* p = block;
    const char* const end = p + n;
    if (at == 0 && text.starts_with(kByteOrderMark)) p += kByteOrderMark.size();
    scanner.Feed(p, end);
    while (p != end) {
      const char* const found = scanner.Next();
      // Nearly all lines: as Add does, without the call. A record that ended with the last block
      // has no byte in this one; the byte at p belongs to the next record.
      if (blank && found != nullptr && found != p && static_cast<unsigned char>(*p) > ' ' &&
          scanner.inner_lines() == 0 && index.blank_ == 0) [[likely]] {
        const int64_t there = at + (found - block);
        if (there - index.begins_.back() <= max_line) [[likely]] {
          index.begins_.push_back(there);
          p = found;
          continue;
        }
      }
      const char* const stop = found == nullptr ? end : found;
      while (blank && p != stop && (IsBlank(*p) || *p == '\n')) ++p;
      blank = blank && p == stop;
      p = stop;
      if (found == nullptr) break;
      FIRN_RETURN_IF_ERROR(index.Add(at + (stop - block), blank, scanner.inner_lines(), max_line));
      blank = true;
    }
  }
  // The last line need not have an end; this may also be the \r of one.
  if (!blank) FIRN_RETURN_IF_ERROR(index.Add(size, false, scanner.inner_lines(), max_line));
  return index;
}

int64_t LineIndex::LineOf(int64_t i) const {
  const auto after = std::upper_bound(more_.begin(), more_.end(), i,
                                      [](int64_t k, const More& m) { return k < m.record; });
  return i + 1 + (after == more_.begin() ? 0 : after[-1].lines);
}

absl::StatusOr<std::string> LineIndex::GetWhole(int64_t i) const {
  const int64_t begin = begins_[static_cast<size_t>(i)];
  std::string line(static_cast<size_t>(begins_[static_cast<size_t>(i + 1)] - begin), '\0');
  FIRN_RETURN_IF_ERROR(file_->ReadAt(begin, line.data(), static_cast<int64_t>(line.size()),
                                     "a line that was there when the file was opened"));
  return line;
}

absl::StatusOr<std::string> LineIndex::Get(int64_t i) const {
  FIRN_ASSIGN_OR_RETURN(std::string line, GetWhole(i));
  line.resize(WithoutLineEnd(line).size());
  if (i == 0 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  return line;
}

}  // namespace firn::io
