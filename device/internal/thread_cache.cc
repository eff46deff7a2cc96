// The life of a thread's cache. `this_thread_cache` starts as no_cache, in static thread-local
// storage that needs no construction; the first slow path makes a cache and, with it, a
// thread-local Reaper whose destructor gives the cache back when the thread ends. Thread-local and
// static objects destroyed after that may still free tensors: they find no_cache again and go to
// the heap directly.
#include "firn/device/internal/thread_cache.h"

#include <cstdint>

#include "firn/device/check.h"
#include "firn/device/internal/cpu_heap.h"
#include "firn/device/testing.h"

namespace firn::inner::internal {

constinit ThreadCache no_cache;
constinit thread_local ThreadCache* this_thread_cache = &no_cache;

namespace {

// All of these are trivially destructible and so usable to the very end of the thread.
constinit thread_local ThreadCache* own_cache = nullptr;
constinit thread_local bool thread_is_ending = false;
constinit thread_local bool counting = false;
constinit thread_local int64_t counted = 0;
constinit thread_local int64_t failing = 0;

void Flush(ThreadCache& cache) {
  for (uint32_t c = 0; c < kNumSizeClasses; ++c) {
    Magazine& magazine = cache.magazines[c];
    if (magazine.count() == 0) continue;
    CpuHeap::Get().GiveSmall(c, magazine.blocks(), magazine.count());
    magazine.set_count(0);
  }
}

struct Reaper {
  ~Reaper() {
    ThreadCache* const cache = own_cache;
    this_thread_cache = &no_cache;
    own_cache = nullptr;
    thread_is_ending = true;
    Flush(*cache);
    CpuHeap::Get().Unregister(cache);
    delete cache;
  }
};

ThreadCache* NewCache() {
  auto* const cache = new ThreadCache;
  for (uint32_t c = 0; c < kNumSizeClasses; ++c) {
    cache->magazines[c].set_capacity(MagazineCapacity(c));
  }
  CpuHeap::Get().Register(cache);
  return cache;
}

}  // namespace

ThreadCache* OwnCache() {
  if (thread_is_ending || counting) return nullptr;
  if (own_cache == nullptr) {
    own_cache = NewCache();
    thread_local const Reaper reaper;
    static_cast<void>(reaper);
  }
  this_thread_cache = own_cache;
  return own_cache;
}

void FlushOwnCache() {
  if (own_cache != nullptr) Flush(*own_cache);
}

bool CountsAsFailure() { return counting && ++counted == failing; }

}  // namespace firn::inner::internal

namespace firn {

ScopedAllocationFailure::ScopedAllocationFailure(int64_t n) {
  FIRN_CHECK(!inner::internal::counting, "ScopedAllocationFailure does not nest");
  inner::internal::this_thread_cache = &inner::internal::no_cache;
  inner::internal::counting = true;
  inner::internal::counted = 0;
  inner::internal::failing = n;
}

ScopedAllocationFailure::~ScopedAllocationFailure() { inner::internal::counting = false; }

int64_t ScopedAllocationFailure::allocations() const { return inner::internal::counted; }

bool ScopedAllocationFailure::triggered() const {
  return inner::internal::failing > 0 && inner::internal::counted >= inner::internal::failing;
}

}  // namespace firn
