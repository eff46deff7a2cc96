// Host slabs are anonymous private mappings. mmap aligns to small pages only, so a mapping larger
// by one huge page is made and its ends are cut off. Aligned slabs let the kernel back them with
// huge pages (asked for by madvise), which saves most of the page faults and TLB misses of large
// tensors.
#include "firn/device/internal/slab_source.h"

#include <sys/mman.h>

#include <cstdint>

#include "firn/device/check.h"
#include "firn/device/environment.h"
#include "firn/device/internal/poison.h"

namespace firn::inner::internal {

void* SlabSource::Map(size_t bytes) {
  void* const slab = Fits(bytes) ? Take(bytes) : nullptr;
  if (slab != nullptr) mapped_bytes_ += bytes;
  return slab;
}

void SlabSource::Unmap(void* slab, size_t bytes) {
  FIRN_CHECK(bytes <= mapped_bytes_);
  Return(slab, bytes);
  mapped_bytes_ -= bytes;
}

HostSlabs::HostSlabs() : SlabSource(env::CpuMemoryLimit()), huge_pages_(env::HugePages()) {}

void* HostSlabs::Take(size_t bytes) {
  const size_t spare = kHugePageBytes - kPageBytes;
  void* const mapping =
      mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapping);
  const size_t before = -reinterpret_cast<uintptr_t>(begin) % kHugePageBytes;
  char* const slab = begin + before;
  if (before != 0) munmap(begin, before);
  if (before != spare) munmap(slab + bytes, spare - before);
  if (huge_pages_) madvise(slab, bytes, MADV_HUGEPAGE);  // only a wish: a refusal does no harm
  Forbid(slab, bytes);
  return slab;
}

// When the pages are touched again, they come back as zeros.
void HostSlabs::Discard(void* begin, size_t bytes) { madvise(begin, bytes, MADV_DONTNEED); }

void HostSlabs::Return(void* slab, size_t bytes) {
  Permit(slab, bytes);  // the system may give the addresses to other code
  munmap(slab, bytes);
}

}  // namespace firn::inner::internal
