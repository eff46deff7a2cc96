#ifndef FIRN_DEVICE_INTERNAL_SIZE_CLASSES_H_
#define FIRN_DEVICE_INTERNAL_SIZE_CLASSES_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace firn::inner::internal {

// Sizes of small blocks: multiples of 64 bytes with four steps to a doubling (64, 128, ..., 512,
// 640, 768, 896, 1024, 1280, ..., 65536), so rounding up wastes less than a fifth of a block above
// 256.
inline constexpr size_t kBlockAlignment = 64;
inline constexpr size_t kMaxSmallBytes = 64 * 1024;
inline constexpr int kNumSizeClasses = 36;

// Values of Block::size_class that are not a small size.
inline constexpr uint8_t kMediumBlock = 253;
inline constexpr uint8_t kBigBlock = 254;
inline constexpr uint8_t kNullBlock = 255;

// The smallest class that holds `bytes`. Requires: 0 < bytes <= kMaxSmallBytes.
//
// With m = (bytes - 1) / 64, classes 0 to 7 are m itself; above, a class is m's top three bits and
// their position: t = bit_width(m / 8) bits are dropped, m >> t is in [4, 7], and each t has 4
// classes.
constexpr uint32_t ComputeSizeClass(size_t bytes) {
  const auto m = static_cast<uint32_t>((bytes - 1) / kBlockAlignment);
  const auto dropped = static_cast<uint32_t>(std::bit_width(m / 8));
  return 4 * dropped + (m >> dropped);
}

// The same by a table over the number of 64-byte lines, which takes fewer instructions; 0 lines are
// taken for 1.
constexpr auto MakeSizeClassTable() {
  std::array<uint8_t, kMaxSmallBytes / kBlockAlignment + 1> table{};
  for (uint32_t lines = 1; lines < table.size(); ++lines) {
    table[lines] = static_cast<uint8_t>(ComputeSizeClass(lines * kBlockAlignment));
  }
  return table;
}
inline constexpr auto kSizeClassTable = MakeSizeClassTable();

inline uint32_t SizeClassOf(size_t bytes) {
  return kSizeClassTable[(bytes + kBlockAlignment - 1) / kBlockAlignment];
}

constexpr std::array<uint32_t, kNumSizeClasses> MakeSizeClassBytes() {
  std::array<uint32_t, kNumSizeClasses> bytes{};
  for (uint32_t lines = 1; lines < kSizeClassTable.size(); ++lines) {
    bytes[kSizeClassTable[lines]] = static_cast<uint32_t>(lines * kBlockAlignment);
  }
  return bytes;
}
inline constexpr std::array<uint32_t, kNumSizeClasses> kSizeClassBytes = MakeSizeClassBytes();

// Blocks of one class a thread keeps: 61, and fewer of the large ones (8 of 64 KiB).
inline constexpr uint32_t kMaxMagazine = 61;
constexpr uint32_t MagazineCapacity(uint32_t size_class) {
  return std::min<uint32_t>(512 * 1024 / kSizeClassBytes[size_class], kMaxMagazine);
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_SIZE_CLASSES_H_
