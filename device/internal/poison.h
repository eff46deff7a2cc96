#ifndef FIRN_DEVICE_INTERNAL_POISON_H_
#define FIRN_DEVICE_INTERNAL_POISON_H_

#include <cstddef>
#include <cstring>

#include "firn/device/check.h"
#include "firn/device/macros.h"

#if FIRN_HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

// Marks host memory so that wrong uses are found; in an ordinary build it does nothing.
//
// Under AddressSanitizer all memory that is not handed out is poisoned, to the byte: slabs, blocks
// that came back, and of a live block the bytes past those asked for, of which there are always at
// least kRedzoneBytes. With FIRN_POISON memory handed out and memory given back is filled with 0xFF
// bytes, NaN in every floating-point type. Neither mode writes anything else into a free block.
namespace firn::inner::internal {

#if defined(FIRN_POISON)
inline constexpr bool kFillsWithNan = true;
inline void FillWithNan(void* data, size_t bytes) { std::memset(data, 0xFF, bytes); }
#else
inline constexpr bool kFillsWithNan = false;
inline void FillWithNan(void*, size_t) {}
#endif

#if FIRN_HAS_ASAN
inline constexpr size_t kRedzoneBytes = 64;
inline void Forbid(void* data, size_t bytes) { ASAN_POISON_MEMORY_REGION(data, bytes); }
inline void Permit(void* data, size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(data, bytes); }
inline bool IsForbidden(const void* data) { return __asan_address_is_poisoned(data) != 0; }
#else
inline constexpr size_t kRedzoneBytes = 0;
inline void Forbid(void*, size_t) {}
inline void Permit(void*, size_t) {}
inline bool IsForbidden(const void*) { return false; }
#endif

// A block of `bytes` is being handed out, `asked` of which the caller may touch. A request of 0
// bytes may touch one byte, so that OnFree can tell a live block from a free one.
inline void OnAllocate(void* data, size_t asked, [[maybe_unused]] size_t bytes) {
  Permit(data, asked != 0 ? asked : 1);
  FillWithNan(data, asked);
}

// A block of `bytes` came back.
inline void OnFree(void* data, size_t bytes) {
  if constexpr (kRedzoneBytes != 0) {
    FIRN_CHECK(!IsForbidden(data), "a block was given back twice, or is not the allocator's");
    Permit(data, bytes);
  }
  FillWithNan(data, bytes);
  Forbid(data, bytes);
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_POISON_H_
