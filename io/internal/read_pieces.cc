// Most of the time of reading a file that the system has in memory goes to the first touch of new
// memory, one page after the other, and to the copy: both are shared by threads. Checksums of the
// threads' parts are joined in their order, so that they depend on no timing.
#include "firn/io/internal/read_pieces.h"

#include <algorithm>
#include <vector>

#include "firn/device/first_touch.h"
#include "firn/device/parallel.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/crc32.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kPiece = 256 << 10;  // stays in a core's second cache
constexpr int64_t kGrain = 16;         // pieces that are worth a thread

// What a thread read.
struct Part {
  absl::Status status;
  uint32_t crc = 0;
  int64_t bytes = 0;
};

Part ReadPart(const RandomAccess& file, int64_t offset, char* out, int64_t n,
              const std::string& field, bool with_crc) {
  Part part{.status = absl::OkStatus(), .crc = 0, .bytes = n};
  inner::internal::FirstTouch touch(out, static_cast<size_t>(n));
  for (int64_t at = 0; at < n; at += kPiece) {
    const int64_t bytes = std::min(kPiece, n - at);
    touch.Reach(out + at + bytes);
    part.status = file.ReadAt(offset + at, out + at, bytes, field);
    if (!part.status.ok()) return part;
    if (with_crc) part.crc = Crc32(part.crc, out + at, static_cast<size_t>(bytes));
  }
  return part;
}

}  // namespace

absl::Status ReadPieces(const RandomAccess& file, int64_t offset, char* out, int64_t n,
                        const std::string& field, uint32_t* crc) {
  const bool inside = offset >= 0 && offset <= file.size() && n <= file.size() - offset;
  if (!inside) return file.ReadAt(offset, out, n, field);  // it reports the error
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  std::vector<Part> parts(static_cast<size_t>(NumChunks(pieces, kGrain)));
  ParallelForChunks(pieces, kGrain, [&](int chunk, int64_t begin, int64_t end) {
    const int64_t first = begin * kPiece, last = std::min(end * kPiece, n);
    parts[static_cast<size_t>(chunk)] =
        ReadPart(file, offset + first, out + first, last - first, field, crc != nullptr);
  });
  uint32_t all = 0;
  for (const Part& part : parts) {
    FIRN_RETURN_IF_ERROR(part.status);
    if (crc != nullptr) all = Crc32Combine(all, part.crc, static_cast<size_t>(part.bytes));
  }
  if (crc != nullptr) *crc = all;
  return absl::OkStatus();
}

}  // namespace firn::io::internal
