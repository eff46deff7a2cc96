#ifndef FIRN_DEVICE_INTERNAL_CPU_HEAP_H_
#define FIRN_DEVICE_INTERNAL_CPU_HEAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "firn/device/allocator.h"
#include "firn/device/fork.h"
#include "firn/device/internal/large_pool.h"
#include "firn/device/internal/slab_source.h"
#include "firn/device/internal/small_pool.h"
#include "firn/device/internal/thread_cache.h"

namespace firn::inner::internal {

// The central part of the host allocator: the pools behind the threads' caches and the books, under
// one lock. Thread-safe. Never destroyed, so it serves static destructors too.
//
// Note [Books of the host allocator]. What is live is counted by the thread that allocates or
// frees, tag by tag in its cache's books, and moved to the heap's when 64 KiB of a tag are pending.
// A block freed by another thread makes that thread's numbers negative; the sum over all threads
// and the heap is exact at any time. Peaks are taken from the heap's numbers, so they lag by what
// is pending.
class CpuHeap {
 public:
  static CpuHeap& Get();

  // Small blocks for a thread's cache, as SmallPool::Take gives them; gives none beyond the limit.
  uint32_t TakeSmall(uint32_t size_class, void** out, uint32_t wanted);
  void GiveSmall(uint32_t size_class, void* const* blocks, uint32_t count);

  // A block of more than kMaxSmallBytes, or a null one.
  Block TakeLarge(size_t bytes, AllocTag tag);
  void GiveLarge(const Block& block);

  // Books `bytes` (negative for a freed block) without a cache.
  void Book(AllocTag tag, int64_t bytes);
  // Moves a cache's numbers to the heap's. For the thread that owns the cache.
  void Publish(ThreadCache& cache);

  void Register(ThreadCache* cache);
  void Unregister(ThreadCache* cache);

  // Gives slabs, and huge pages of others, without a live or thread-cached block back to the
  // system.
  void Trim();

  void SetLimit(std::optional<size_t> bytes);
  AllocatorStats stats();
  void ResetPeak();

  // The error for a request that was refused.
  absl::Status Exhausted(size_t bytes, AllocTag tag);

 private:
  CpuHeap() { KeepOverFork(mutex_, ForkOrder::kHeap); }

  bool LimitAllows(size_t bytes) const;
  AllocatorStats StatsLocked() const;

  std::mutex mutex_;  // guards everything below
  HostSlabs source_;
  SmallPool small_{source_};
  LargePool medium_{source_, size_t{8} << 20};  // blocks up to 4 MiB, many to a slab
  LargePool big_{source_, kHugePageBytes};  // larger blocks, whose slabs small ones must not split
  std::vector<ThreadCache*> caches_;
  AllocatorStats books_;  // live_bytes, live_by_tag, the peaks and allocations
};

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_CPU_HEAP_H_
