#ifndef FIRN_DEVICE_CPU_ALLOCATOR_H_
#define FIRN_DEVICE_CPU_ALLOCATOR_H_

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "device/allocator.h"

namespace firn {

// The caching allocator of host memory. Blocks are aligned to 64 bytes.
//
// Up to 64 KiB a request is rounded up to one of 36 sizes (four to a doubling) and served from the
// calling thread's own cache, last in first out, without a lock. Larger ones are cut best-fit from
// slabs of 2 MiB and more (transparent huge pages) under a lock, and merged with their neighbours
// when they come back. Nothing returns to the system before EmptyCache, or before the limit asks
// for it; blocks in the caches of other threads stay there until those threads free more or end.
//
// Statistics: live and cached bytes are exact. Peaks see a thread's small blocks in steps of 64 KiB
// of one tag, so a tag's peak may lag by 64 KiB a thread, and the peak of the total by that much
// for each tag the thread holds small blocks of.
//
// Thread-safe. Usable before main, during static destruction and from a thread that is ending.
class CpuCachingAllocator final : public Allocator {
 public:
  constexpr CpuCachingAllocator() = default;
  CpuCachingAllocator(const CpuCachingAllocator&) = delete;
  CpuCachingAllocator& operator=(const CpuCachingAllocator&) = delete;

  absl::StatusOr<Block> Allocate(size_t bytes, AllocTag tag) override;
  // The usual way of Allocate: a small block that lies ready in the calling thread's cache. False
  // when it takes more than that.
  bool TakeCached(size_t bytes, AllocTag tag, Block* block) noexcept;
  void Free(const Block& block) noexcept override;
  AllocatorStats stats() const override;
  void ResetPeak() override;
  void EmptyCache() override;
  void SetLimit(std::optional<size_t> bytes) override;
};

namespace inner::internal {
extern constinit CpuCachingAllocator
    cpu_allocator;  // stateless: the state is per thread and central
}  // namespace inner::internal

// The allocator of host memory, the only one in the process.
inline CpuCachingAllocator& CpuAllocator() { return inner::internal::cpu_allocator; }

}  // namespace firn

#endif  // FIRN_DEVICE_CPU_ALLOCATOR_H_
