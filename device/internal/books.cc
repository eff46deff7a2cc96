// Statistics of allocators and the text of their refusals.
#include "firn/device/internal/books.h"

#include <algorithm>
#include <limits>
#include <string>

#include "firn/device/status_macros.h"

namespace firn::inner::internal {

void RaisePeaks(AllocatorStats& books) {
  books.peak_bytes = std::max(books.peak_bytes, books.live_bytes);
  for (size_t i = 0; i < kNumAllocTags; ++i) {
    books.peak_by_tag[i] = std::max(books.peak_by_tag[i], books.live_by_tag[i]);
  }
}

void BookBlock(AllocatorStats& books, AllocTag tag, int64_t bytes) {
  const auto i = static_cast<size_t>(tag);
  books.live_bytes += bytes;
  books.live_by_tag[i] += bytes;
  if (bytes < 0) return;
  ++books.allocations;
  books.peak_bytes = std::max(books.peak_bytes, books.live_bytes);
  books.peak_by_tag[i] = std::max(books.peak_by_tag[i], books.live_by_tag[i]);
}

absl::Status CheckSize(size_t bytes) {
  FIRN_RETURN_IF(bytes > std::numeric_limits<size_t>::max() / 4,
                 InvalidArgument(
                     "allocate: ", bytes,
                     " bytes is more than any machine has; did a product of dimensions overflow?"));
  return absl::OkStatus();
}

absl::Status OutOfMemory(Device device, size_t bytes, AllocTag tag, const AllocatorStats& now) {
  std::string held;
  for (size_t i = 0; i < kNumAllocTags; ++i) {
    if (now.live_by_tag[i] == 0) continue;
    held += Message(held.empty() ? "" : ", ", AllocTagName(static_cast<AllocTag>(i)), " ",
                    FormatBytes(now.live_by_tag[i]));
  }
  return ResourceExhausted(
      "out of memory on ", device.ToString(), ": asked for ",
      FormatBytes(static_cast<int64_t>(bytes)), " (", bytes, " bytes, ", AllocTagName(tag),
      "); live ", FormatBytes(now.live_bytes), " (", held.empty() ? "nothing" : held, "), cached ",
      FormatBytes(now.cached_bytes), ", limit ",
      now.limit_bytes < 0 ? "none, refused by the system" : FormatBytes(now.limit_bytes));
}

}  // namespace firn::inner::internal
