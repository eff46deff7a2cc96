#ifndef FIRN_DEVICE_NON_TEMPORAL_COPY_H_
#define FIRN_DEVICE_NON_TEMPORAL_COPY_H_

// Rows of a matrix far apart in memory: what the processor does not foresee is asked for early, and
// what no cache will keep is written past all of them, which spares reading the lines first.

#include <cstdint>

#include "firn/device/own_flags.h"

namespace firn {

inline constexpr int64_t kCacheLineBytes = 64;

// A result of so many bytes leaves the caches before it is read again, most likely.
inline constexpr int64_t kNonTemporalBytes = int64_t{8} << 20;

// Like memcpy, by non-temporal stores where the processor has them; fastest where `to` begins a
// line of them. Another thread may read it after FinishNonTemporal.
void NonTemporalCopy(void* to, const void* from, int64_t bytes);
// After the last NonTemporalCopy of a thread's piece of work, before others are told that it is
// done.
void FinishNonTemporal();

// Asks for `bytes` at each of `rows` places, `step_bytes` apart. These need not be memory.
inline void PrefetchRows(const char* from, int64_t step_bytes, int64_t rows, int64_t bytes) {
  for (int64_t r = 0; r < rows; ++r, from += step_bytes) {
    for (int64_t at = 0; at < bytes; at += kCacheLineBytes) __builtin_prefetch(from + at, 0, 2);
  }
}

}  // namespace firn

#endif  // FIRN_DEVICE_NON_TEMPORAL_COPY_H_
