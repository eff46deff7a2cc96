#ifndef FIRN_DEVICE_INTERNAL_SMALL_POOL_H_
#define FIRN_DEVICE_INTERNAL_SMALL_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "firn/device/internal/size_classes.h"
#include "firn/device/internal/slab_source.h"

namespace firn::inner::internal {

// The store behind the threads' caches: slabs of 2 MiB cut into spans of 256 KiB, each span into
// blocks of one size class. A span whose blocks are all back may serve another class. Nothing is
// ever written into a free block. Not thread-safe.
class SmallPool {
 public:
  explicit SmallPool(SlabSource& source) : source_(source) {}

  // Puts up to `wanted` blocks of the class into `out` and returns how many: fewer, possibly none,
  // when the source refuses.
  uint32_t Take(uint32_t size_class, void** out, uint32_t wanted);

  // Takes back blocks of the class.
  void Give(uint32_t size_class, void* const* blocks, uint32_t count);

  // Gives slabs without a block in use back to the source.
  void Trim();

 private:
  struct Span {
    char* data = nullptr;
    uint32_t size_class = 0;
    uint32_t used = 0;               // blocks handed out
    uint32_t fresh = 0;              // blocks from here on were never handed out
    uint32_t blocks = 0;             // all blocks of the span; 0: belongs to no class
    size_t position = 0;             // in the list it is on, unless full
    std::vector<uint16_t> returned;  // numbers of blocks that came back
  };
  struct Slab {
    std::vector<Span> spans;
  };

  Span* SpanFor(uint32_t size_class);
  bool AddSlab();
  void Link(std::vector<Span*>& list, Span& span);
  void Unlink(std::vector<Span*>& list, Span& span);

  SlabSource& source_;
  std::array<std::vector<Span*>, kNumSizeClasses> open_;  // spans with a block to give, by class
  std::vector<Span*> idle_;                               // spans that belong to no class
  absl::flat_hash_map<uintptr_t, std::unique_ptr<Slab>> slabs_;  // by start address
};

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_SMALL_POOL_H_
