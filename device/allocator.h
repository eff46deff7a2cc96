#ifndef FIRN_DEVICE_ALLOCATOR_H_
#define FIRN_DEVICE_ALLOCATOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace firn {

// What a block is for. Statistics and out-of-memory messages are by tag.
enum class AllocTag : uint8_t {
  kActivation,  // results of ops
  kParameter,
  kGradient,
  kOptimizer,  // optimizer state
  kWorkspace,  // scratch of one kernel run
  kArena,      // the planned memory of a frozen graph
  kOther,
};
inline constexpr size_t kNumAllocTags = static_cast<size_t>(AllocTag::kOther) + 1;

// "activation", "parameter", ...
const char* AllocTagName(AllocTag tag);

// A piece of device memory as an Allocator hands it out: a plain value that its holder gives back,
// unchanged and once, to the allocator it came from. A default-made one is null.
struct Block {
  void* data = nullptr;  // aligned to 64 bytes on the CPU, 512 on CUDA
  size_t bytes = 0;      // what was reserved for it, at least what was asked
  AllocTag tag = AllocTag::kOther;
  uint8_t size_class = 255;  // the allocator's own: where to put it back; 255 in a null block
  uint32_t node = 0;         // the allocator's own: its record of a large block

  explicit operator bool() const { return data != nullptr; }
};

// "512 B", "1.50 MiB".
std::string FormatBytes(int64_t bytes);

// Bytes and counts of one allocator at one moment.
struct AllocatorStats {
  int64_t live_bytes = 0;    // in blocks handed out and not given back (rounded sizes)
  int64_t cached_bytes = 0;  // taken from the system, ready for reuse
  int64_t peak_bytes = 0;    // the most that was live since the last ResetPeak
  int64_t allocations = 0;   // blocks handed out since the program started
  int64_t limit_bytes = -1;  // -1: none
  std::array<int64_t, kNumAllocTags> live_by_tag{};
  std::array<int64_t, kNumAllocTags> peak_by_tag{};  // each tag's own peak, not those at the peak

  int64_t live(AllocTag tag) const { return live_by_tag[static_cast<size_t>(tag)]; }
  int64_t peak(AllocTag tag) const { return peak_by_tag[static_cast<size_t>(tag)]; }

  // A table for people: one line of totals, then one line a tag that was used.
  std::string ToString() const;
};

// Hands out memory of one device. Thread-safe: any thread may allocate, and a block may be given
// back by another thread than the one it was handed to.
class Allocator {
 public:
  // Returns a block of at least `bytes` bytes with indeterminate content. A request of 0 bytes gets
  // a valid block with a non-null address of its own. Errors: ResourceExhausted when the system or
  // the limit refuses even after the cache was emptied, with the amounts by tag; InvalidArgument
  // for a size no machine has (an overflowed product).
  virtual absl::StatusOr<Block> Allocate(size_t bytes, AllocTag tag) = 0;

  // Takes a block back. A null block is ignored. Free never fails and may run during static
  // destruction. Requires: the block came from this allocator and was not given back before.
  virtual void Free(const Block& block) noexcept = 0;

  virtual AllocatorStats stats() const = 0;

  // Starts measuring peaks anew from what is live now.
  virtual void ResetPeak() = 0;

  // Returns to the system all cached memory whose slab has no live block. From host slabs that have
  // one, it returns the pages of 2 MiB without a live block, which still count as cached, since
  // their addresses stay reserved.
  virtual void EmptyCache() = 0;

  // Bounds what this allocator takes from the system, live and cached together; nullopt lifts the
  // bound. A limit below what is live now is legal: live blocks stay, and later requests fail.
  virtual void SetLimit(std::optional<size_t> bytes) = 0;

 protected:
  ~Allocator() = default;  // allocators live as long as the process and are not deleted
};

}  // namespace firn

#endif  // FIRN_DEVICE_ALLOCATOR_H_
