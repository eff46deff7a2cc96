// The ways a request can take: the thread's magazine of its size (no lock, a few dozen instructions
// for a block out and back), else a batch from the heap for that magazine, else the heap's pools of
// large blocks. A refused request empties the caches and tries once more.
//
// The quick ways are inline in the header.
#include "firn/device/cpu_allocator.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "firn/device/internal/books.h"
#include "firn/device/internal/cpu_heap.h"
#include "firn/device/internal/poison.h"
#include "firn/device/internal/size_classes.h"
#include "firn/device/internal/thread_cache.h"
#include "firn/device/macros.h"
#include "firn/device/status_macros.h"

namespace firn {
namespace {

using internal::CpuHeap;
using internal::Magazine;
using internal::ThreadCache;

static_assert(Block{}.size_class == internal::kNullBlock);

Block SmallBlock(void* data, uint32_t size_class, AllocTag tag) {
  return Block{data, internal::kSizeClassBytes[size_class], tag, static_cast<uint8_t>(size_class)};
}

void EmptyCaches() {
  internal::FlushOwnCache();
  CpuHeap::Get().Trim();
}

// Returns a block of the class: from the heap for a thread without a cache, else from its magazine,
// which it fills half first.
void* TakeSmall(uint32_t size_class, ThreadCache* cache) {
  void* block = nullptr;
  if (cache == nullptr) {
    CpuHeap::Get().TakeSmall(size_class, &block, 1);
    return block;
  }
  Magazine& magazine = cache->magazines[size_class];
  if (magazine.count() == 0) {
    const uint32_t batch = magazine.capacity() / 2 + 1;
    magazine.set_count(CpuHeap::Get().TakeSmall(size_class, magazine.blocks(), batch));
    std::reverse(magazine.blocks(), magazine.blocks() + magazine.count());  // warmest on top
  }
  return magazine.Pop();
}

Block AllocateSmall(size_t bytes, AllocTag tag) {
  const uint32_t size_class = internal::SizeClassOf(bytes);
  ThreadCache* const cache = internal::OwnCache();
  void* data = TakeSmall(size_class, cache);
  if (data == nullptr) {
    EmptyCaches();
    data = TakeSmall(size_class, cache);
  }
  if (data == nullptr) return Block{};
  const uint32_t block_bytes = internal::kSizeClassBytes[size_class];
  if (cache == nullptr) {
    CpuHeap::Get().Book(tag, block_bytes);
  } else if (cache->book(tag).Allocated(block_bytes)) {
    CpuHeap::Get().Publish(*cache);
  }
  return SmallBlock(data, size_class, tag);
}

Block AllocateLarge(size_t bytes, AllocTag tag) {
  Block block = CpuHeap::Get().TakeLarge(bytes, tag);
  if (block) return block;
  EmptyCaches();
  return CpuHeap::Get().TakeLarge(bytes, tag);
}

FIRN_NOINLINE absl::StatusOr<Block> AllocateSlow(size_t asked, AllocTag tag) {
  FIRN_RETURN_IF(
      internal::CountsAsFailure(),
      ResourceExhausted("out of memory on cpu: this allocation of ", asked, " bytes (",
                        AllocTagName(tag), ") was made to fail by a ScopedAllocationFailure"));
  FIRN_RETURN_IF_ERROR(internal::CheckSize(asked));
  const size_t bytes = asked + internal::kRedzoneBytes;
  const Block block =
      bytes <= internal::kMaxSmallBytes ? AllocateSmall(bytes, tag) : AllocateLarge(bytes, tag);
  if (!block) return CpuHeap::Get().Exhausted(asked, tag);
  internal::OnAllocate(block.data, asked, block.bytes);
  return block;
}

// Makes room in a full magazine: the colder half goes to the heap.
void HalveMagazine(Magazine& magazine, uint32_t size_class) {
  const uint32_t half = magazine.count() / 2;
  CpuHeap::Get().GiveSmall(size_class, magazine.blocks(), half);
  std::copy(magazine.blocks() + half, magazine.blocks() + magazine.count(), magazine.blocks());
  magazine.set_count(magazine.count() - half);
}

}  // namespace

constinit CpuCachingAllocator internal::cpu_allocator;

void CpuCachingAllocator::Publish(ThreadCache& cache) noexcept { CpuHeap::Get().Publish(cache); }

void CpuCachingAllocator::FreeSlow(const Block& block) noexcept {
  if (!block) return;
  internal::OnFree(block.data, block.bytes);
  if (block.size_class >= internal::kNumSizeClasses) {
    CpuHeap::Get().GiveLarge(block);
    return;
  }
  ThreadCache* const cache = internal::OwnCache();
  if (cache == nullptr) {
    CpuHeap::Get().GiveSmall(block.size_class, &block.data, 1);
    CpuHeap::Get().Book(block.tag, -static_cast<int64_t>(block.bytes));
    return;
  }
  Magazine& magazine = cache->magazines[block.size_class];
  if (magazine.count() == magazine.capacity()) HalveMagazine(magazine, block.size_class);
  magazine.Push(block.data);
  if (cache->book(block.tag).Freed(static_cast<uint32_t>(block.bytes))) Publish(*cache);
}

absl::StatusOr<Block> CpuCachingAllocator::Allocate(size_t bytes, AllocTag tag) {
  Block block;
  if (TakeCached(bytes, tag, &block)) [[likely]]
    return block;
  return AllocateSlow(bytes, tag);
}

AllocatorStats CpuCachingAllocator::stats() const { return CpuHeap::Get().stats(); }

void CpuCachingAllocator::ResetPeak() { CpuHeap::Get().ResetPeak(); }

void CpuCachingAllocator::EmptyCache() { EmptyCaches(); }

void CpuCachingAllocator::SetLimit(std::optional<size_t> bytes) { CpuHeap::Get().SetLimit(bytes); }

}  // namespace firn
