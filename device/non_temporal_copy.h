#ifndef FIRN_DEVICE_NON_TEMPORAL_COPY_H_
#define FIRN_DEVICE_NON_TEMPORAL_COPY_H_

// Access to rows that lie far apart in memory: prefetches for reads that the processor does not
// predict, and stores past the caches for results that no cache would keep, which saves reading the
// lines first.

#include <cstdint>

#include "firn/device/own_flags.h"

namespace firn {

inline constexpr int64_t kCacheLineBytes = 64;

// A result of so many bytes most likely leaves the caches before it is read again.
inline constexpr int64_t kNonTemporalBytes = int64_t{8} << 20;

// Like memcpy, by non-temporal stores where the processor has them; fastest where `to` begins a
// line of them. Another thread may read it after FinishNonTemporal.
void NonTemporalCopy(void* to, const void* from, int64_t bytes);
// Call it after the last NonTemporalCopy of a thread's piece of work, before other threads are told
// that it is done.
void FinishNonTemporal();

// Prefetches `bytes` at each of `rows` places, `step_bytes` apart. The places need not be valid
// memory.
inline void PrefetchRows(const char* from, int64_t step_bytes, int64_t rows, int64_t bytes) {
  for (int64_t r = 0; r < rows; ++r, from += step_bytes) {
    for (int64_t at = 0; at < bytes; at += kCacheLineBytes) __builtin_prefetch(from + at, 0, 2);
  }
}

}  // namespace firn

#endif  // FIRN_DEVICE_NON_TEMPORAL_COPY_H_
