// Non-temporal stores, which take no place in the caches, are gathered by the processor until a
// line is full, so each line is written by stores that follow each other, and parts of a line by
// ordinary stores. Non-temporal stores are not ordered with other stores before a fence.

#include "firn/device/non_temporal_copy.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace firn {

#if defined(__x86_64__)

void NonTemporalCopy(void* to, const void* from, int64_t bytes) {
  constexpr int64_t kLine = kCacheLineBytes, kStore = sizeof(__m128i);
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  const int64_t past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) % kLine);
  const int64_t head = std::min(bytes, (kLine - past) % kLine);
  std::memcpy(out, in, static_cast<size_t>(head));
  int64_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    for (int64_t i = at; i < at + kLine; i += kStore) {
      const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + i), part);
    }
  }
  std::memcpy(out + at, in + at, static_cast<size_t>(bytes - at));
}

void FinishNonTemporal() { _mm_sfence(); }

#else

void NonTemporalCopy(void* to, const void* from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

void FinishNonTemporal() {}

#endif

}  // namespace firn
