#ifndef FIRN_DEVICE_SIMD_GATHER_H_
#define FIRN_DEVICE_SIMD_GATHER_H_

#include <cstdint>
#include <cstring>

#include "firn/device/level.h"
#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"

#if FIRN_LEVEL >= 3
#include <immintrin.h>
#endif

namespace firn::inner::internal {

// Lane l is from[at[l]], for T float or double; 0 where at[l] is negative: nothing is read there.
template <class T>
FIRN_ALWAYS_INLINE Vec<T> Gather(const T* from, const int32_t* at) {
#if FIRN_LEVEL >= 4
  if constexpr (sizeof(T) == 4) {
    const __m512i i = _mm512_loadu_si512(at);
    const __mmask16 inside = _mm512_cmpge_epi32_mask(i, _mm512_setzero_si512());
    return reinterpret_cast<Vec<T>>(
        _mm512_mask_i32gather_ps(_mm512_setzero_ps(), inside, i, from, 4));
  } else {
    const __m256i i = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    const __mmask8 inside = _mm256_cmpge_epi32_mask(i, _mm256_setzero_si256());
    return reinterpret_cast<Vec<T>>(
        _mm512_mask_i32gather_pd(_mm512_setzero_pd(), inside, i, from, 8));
  }
#elif FIRN_LEVEL >= 3
  if constexpr (sizeof(T) == 4) {
    const __m256i i = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    const __m256i inside = _mm256_cmpgt_epi32(i, _mm256_set1_epi32(-1));
    return reinterpret_cast<Vec<T>>(_mm256_mask_i32gather_ps(_mm256_setzero_ps(), from, i,
                                                             reinterpret_cast<__m256>(inside), 4));
  } else {
    const __m128i i = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m256i inside = _mm256_cvtepi32_epi64(_mm_cmpgt_epi32(i, _mm_set1_epi32(-1)));
    return reinterpret_cast<Vec<T>>(_mm256_mask_i32gather_pd(_mm256_setzero_pd(), from, i,
                                                             reinterpret_cast<__m256d>(inside), 8));
  }
#else
  Vec<T> v = {};
  for (int64_t l = 0; l < kSimdLanes<T>; ++l) {
    if (at[l] >= 0) v[l] = from[at[l]];
  }
  return v;
#endif
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_SIMD_GATHER_H_
