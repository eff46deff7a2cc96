#ifndef FIRN_DEVICE_SIMD_PART_H_
#define FIRN_DEVICE_SIMD_PART_H_

#include <cstdint>
#include <cstring>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"

#if FIRN_LEVEL >= 4
#include <immintrin.h>
#endif

// Registers of T from and to memory that may not be aligned: all lanes, or the first ones where
// rows end. Values are passed by value, so that a register that one branch stores stays a register
// where other branches use it (docs/decisions/builds.md).
namespace firn::inner::internal {

template <class T>
FIRN_ALWAYS_INLINE Vec<T> LoadAll(const T* from) {
  Vec<T> v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}
template <class T>
FIRN_ALWAYS_INLINE void StoreAll(Vec<T> v, T* to) {
  std::memcpy(to, &v, sizeof(v));
}

// from[0..n), then zeros. T is float or double. Requires: 0 < n <= kSimdLanes<T>.
template <class T>
FIRN_ALWAYS_INLINE Vec<T> LoadPart(const T* from, int64_t n) {
#if FIRN_LEVEL >= 4
  const uint32_t lanes = (1u << n) - 1;
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Vec<T>>(_mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), from));
  } else {
    return reinterpret_cast<Vec<T>>(_mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), from));
  }
#else
  Vec<T> v = {};
  std::memcpy(&v, from, static_cast<size_t>(n) * sizeof(T));
  return v;
#endif
}

// to[0..n) = the first lanes of v. Requires: as above.
template <class T>
FIRN_ALWAYS_INLINE void StorePart(Vec<T> v, int64_t n, T* to) {
#if FIRN_LEVEL >= 4
  const uint32_t lanes = (1u << n) - 1;
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>(lanes), reinterpret_cast<__m512>(v));
  } else {
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>(lanes), reinterpret_cast<__m512d>(v));
  }
#else
  std::memcpy(to, &v, static_cast<size_t>(n) * sizeof(T));
#endif
}

// Like StoreAll, but past the caches where the processor has such stores of whole lines. For
// results of kNonTemporalBytes (device/non_temporal_copy.h); FinishNonTemporal() must follow here
// too. Requires: `to` is aligned to a register.
template <class T>
FIRN_ALWAYS_INLINE void StoreNonTemporal(Vec<T> v, T* to) {
#if FIRN_LEVEL >= 4
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(v));
#else
  StoreAll<T>(v, to);
#endif
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_SIMD_PART_H_
