// EXIF 2.3 in JPEG: "Exif\0\0", then a TIFF structure, of which only the first directory's tag 274
// (orientation, one u16) is read. Offsets count from the structure's start.
#include <cstdint>
#include <string_view>

#include "firn/io/image/internal/raster.h"

namespace firn::io::internal {
namespace {

constexpr std::string_view kSignature("Exif\0\0", 6);
constexpr unsigned kOrientationTag = 274, kShort = 3;
constexpr uint64_t kEntryBytes = 12;

class Tiff {
 public:
  Tiff(std::string_view bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}
  bool Has(uint64_t offset, uint64_t n) const {
    return offset <= bytes_.size() && n <= bytes_.size() - offset;
  }
  // Requires: Has(offset, n), n <= 4.
  uint32_t Number(uint64_t offset, unsigned n) const {
    uint32_t v = 0;
    for (unsigned i = 0; i < n; ++i) {
      const auto byte = static_cast<unsigned char>(bytes_[offset + i]);
      v = big_endian_ ? v << 8 | byte : v | uint32_t{byte} << 8 * i;
    }
    return v;
  }

 private:
  const std::string_view bytes_;
  const bool big_endian_;
};

}  // namespace

int ExifOrientation(std::string_view segment) {
  if (!segment.starts_with(kSignature)) return 1;
  segment.remove_prefix(kSignature.size());
  if (!segment.starts_with("MM") && !segment.starts_with("II")) return 1;
  const Tiff tiff(segment, segment.starts_with("MM"));
  if (!tiff.Has(4, 4)) return 1;
  const uint64_t directory = tiff.Number(4, 4);
  if (!tiff.Has(directory, 2)) return 1;
  const unsigned entries = tiff.Number(directory, 2);
  for (unsigned i = 0; i < entries; ++i) {
    const uint64_t at = directory + 2 + i * kEntryBytes;
    if (!tiff.Has(at, kEntryBytes)) return 1;
    if (tiff.Number(at, 2) != kOrientationTag) continue;
    const uint32_t value = tiff.Number(at + 8, 2);
    const bool valid = tiff.Number(at + 2, 2) == kShort && value >= 1 && value <= 8;
    return valid ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace firn::io::internal
