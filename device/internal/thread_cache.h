#ifndef FIRN_DEVICE_INTERNAL_THREAD_CACHE_H_
#define FIRN_DEVICE_INTERNAL_THREAD_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "firn/device/allocator.h"
#include "firn/device/internal/size_classes.h"

namespace firn::inner::internal {

// Free blocks of one size, last in first out: a stack of pointers with a null below the first,
// which Take finds in an empty stack.
class Magazine {
 public:
  constexpr Magazine() = default;
  Magazine(const Magazine&) = delete;
  Magazine& operator=(const Magazine&) = delete;

  // A block, or null when there is none.
  void* Pop() {
    void* const block = *top_;
    if (block != nullptr) [[likely]]
      --top_;
    return block;
  }

  // False when there is no room.
  bool Push(void* block) {
    if (top_ == last_) [[unlikely]]
      return false;
    *++top_ = block;
    return true;
  }

  uint32_t capacity() const { return static_cast<uint32_t>(last_ - slots_); }
  void set_capacity(uint32_t blocks) { last_ = slots_ + blocks; }

  // The blocks, the coldest first. For filling and emptying many at once.
  uint32_t count() const { return static_cast<uint32_t>(top_ - slots_); }
  void set_count(uint32_t count) { top_ = slots_ + count; }
  void** blocks() { return slots_ + 1; }

 private:
  void** top_ = slots_;   // the block to go next
  void** last_ = slots_;  // the last slot to use
  void* slots_[1 + kMaxMagazine] = {};
};
static_assert(sizeof(Magazine) == 512);  // so that indexing is a shift

// One tag's part of the books of one thread (see Note [Books of the host allocator]): a count of
// allocations in the upper half of one number and the bytes pending, plus kMaxPendingBytes, in the
// lower, so that booking and noticing that it is time to publish is one addition and one
// comparison. One thread writes and any may read, hence no locked instructions.
class PendingBook {
 public:
  static constexpr int64_t kMaxPendingBytes = 64 * 1024;

  struct Entry {
    int64_t bytes;
    int64_t allocations;
  };

  // Book one block; true when it is time to publish.
  bool Allocated(uint32_t bytes) { return Add((int64_t{1} << 32) + bytes); }
  bool Freed(uint32_t bytes) { return Add(-int64_t{bytes}); }

  Entry Read() const {
    const int64_t packed = packed_.load(std::memory_order_relaxed);
    const int64_t low = static_cast<int32_t>(packed);  // may be negative until it is published
    return {low - kMaxPendingBytes, (packed - low) >> 32};
  }

  void Clear() { packed_.store(kMaxPendingBytes, std::memory_order_relaxed); }

 private:
  bool Add(int64_t amount) {
    const int64_t packed = packed_.load(std::memory_order_relaxed) + amount;
    packed_.store(packed, std::memory_order_relaxed);
    return static_cast<uint32_t>(packed) > 2 * kMaxPendingBytes;
  }

  std::atomic<int64_t> packed_ = kMaxPendingBytes;
};

// The small blocks a thread keeps for itself, and its part of the books. Used by its own thread
// only, except that others may read the books.
struct ThreadCache {
  std::array<Magazine, kNumSizeClasses> magazines{};
  std::array<PendingBook, kNumAllocTags> books{};

  PendingBook& book(AllocTag tag) { return books[static_cast<size_t>(tag)]; }
};

// The cache of a thread that has none (not yet, not any more, or not while it counts allocations):
// all magazines are empty and have no room, so every use ends up in the slow path. Never written.
extern constinit ThreadCache no_cache;

// Where the calling thread allocates: its own cache or no_cache.
extern constinit thread_local ThreadCache* this_thread_cache;

// The calling thread's own cache with this_thread_cache set to it, made if needed; null while there
// cannot be one: the thread is ending, or ScopedAllocationFailure counts its allocations.
ThreadCache* OwnCache();

// Gives all blocks of the calling thread's cache, if it has one, back to the heap.
void FlushOwnCache();

// Counts an allocation for the calling thread's ScopedAllocationFailure. True when it is to fail.
bool CountsAsFailure();

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_THREAD_CACHE_H_
