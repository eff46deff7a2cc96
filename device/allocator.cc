// Allocator statistics as text.
#include "firn/device/allocator.h"

#include <array>
#include <string>

#include "absl/strings/str_format.h"

namespace firn {

const char* AllocTagName(AllocTag tag) {
  static constexpr std::array<const char*, kNumAllocTags> kNames = {
      "activation", "parameter", "gradient", "optimizer", "workspace", "arena", "other"};
  const auto i = static_cast<size_t>(tag);
  return i < kNames.size() ? kNames[i] : "unknown";
}

std::string FormatBytes(int64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes > -1024 && bytes < 1024) return absl::StrFormat("%d B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while ((value >= 1024 || value <= -1024) && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.2f %s", value, kUnits[unit]);
}

std::string AllocatorStats::ToString() const {
  constexpr const char* kRow = "%-12s %12s %12s\n";
  std::string out = absl::StrFormat(kRow, "memory", "live", "peak");
  absl::StrAppendFormat(&out, kRow, "total", FormatBytes(live_bytes), FormatBytes(peak_bytes));
  for (size_t i = 0; i < kNumAllocTags; ++i) {
    if (live_by_tag[i] == 0 && peak_by_tag[i] == 0) continue;
    absl::StrAppendFormat(&out, kRow, AllocTagName(static_cast<AllocTag>(i)),
                          FormatBytes(live_by_tag[i]), FormatBytes(peak_by_tag[i]));
  }
  absl::StrAppendFormat(&out, "cached %s, limit %s, %d allocations\n", FormatBytes(cached_bytes),
                        limit_bytes < 0 ? "none" : FormatBytes(limit_bytes), allocations);
  return out;
}

}  // namespace firn
