#ifndef FIRN_DEVICE_CPU_ALLOCATOR_H_
#define FIRN_DEVICE_CPU_ALLOCATOR_H_

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "firn/device/allocator.h"
#include "firn/device/internal/poison.h"
#include "firn/device/internal/size_classes.h"
#include "firn/device/internal/thread_cache.h"

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

 private:
  static void FreeSlow(const Block& block) noexcept;
  // The end of TakeCached and Free when it is also time to publish.
  static void Publish(inner::internal::ThreadCache& cache) noexcept;
};

namespace inner::internal {
extern constinit CpuCachingAllocator
    cpu_allocator;  // stateless: the state is per thread and central
}  // namespace inner::internal

// The allocator of host memory, the only one in the process.
inline CpuCachingAllocator& CpuAllocator() { return inner::internal::cpu_allocator; }

// The quick ways are inline, for every tensor takes both; everything else is out of line, so that
// they need no stack frame.
inline bool CpuCachingAllocator::TakeCached(size_t bytes, AllocTag tag, Block* block) noexcept {
  namespace internal = inner::internal;
  if (bytes > internal::kMaxSmallBytes - internal::kRedzoneBytes) [[unlikely]]
    return false;
  const uint32_t size_class = internal::SizeClassOf(bytes + internal::kRedzoneBytes);
  internal::ThreadCache& cache = *internal::this_thread_cache;
  void* const data = cache.magazines[size_class].Pop();
  if (data == nullptr) [[unlikely]]
    return false;
  const uint32_t block_bytes = internal::kSizeClassBytes[size_class];
  internal::OnAllocate(data, bytes, block_bytes);
  *block = Block{data, block_bytes, tag, static_cast<uint8_t>(size_class)};
  if (cache.book(tag).Allocated(block_bytes)) [[unlikely]]
    Publish(cache);
  return true;
}

inline void CpuCachingAllocator::Free(const Block& block) noexcept {
  namespace internal = inner::internal;
  if (block.size_class >= internal::kNumSizeClasses) [[unlikely]]
    return FreeSlow(block);
  internal::ThreadCache& cache = *internal::this_thread_cache;
  if (!cache.magazines[block.size_class].Push(block.data)) [[unlikely]]
    return FreeSlow(block);
  internal::OnFree(block.data, block.bytes);
  if (cache.book(block.tag).Freed(static_cast<uint32_t>(block.bytes))) [[unlikely]]
    Publish(cache);
}

}  // namespace firn

#endif  // FIRN_DEVICE_CPU_ALLOCATOR_H_
