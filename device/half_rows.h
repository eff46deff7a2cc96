#ifndef FIRN_DEVICE_HALF_ROWS_H_
#define FIRN_DEVICE_HALF_ROWS_H_

#include <cstdint>
#include <cstring>

#include "firn/device/cpu.h"
#include "firn/device/half_bits.h"
#include "firn/device/macros.h"
#include "firn/device/own_flags.h"

#if FIRN_LEVEL >= 3
#include <immintrin.h>
#endif

// Half types as bits, to and from float, many at a time: from conversions of single numbers, g++ 12
// makes no vectors for IEEE binary16 and slow ones for bfloat16. At levels below 4 the two
// functions for bfloat16 convert nothing and return 0: the caller's loops over single numbers
// follow, which the compiler vectorises.
//
//   FloatsOfHalfBits       to[i] = FloatOfHalfBits(from[i]) for i < n; the two do not overlap
//   HalfBitsOfFloats       to[i] = HalfBits(from[i]): rounded to nearest even
//   FloatsOfBfloatVectors, BfloatVectorsOfFloats
//                          the same for bfloat16, of the first elements, as many as they return
namespace firn::inner::internal {

#if FIRN_LEVEL >= 4

// The first n of 16 lanes, or all of them.
inline __mmask16 FirstLanes(int64_t n) {
  return static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1u);
}

inline void FloatsOfHalfBits(const uint16_t* from, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm512_storeu_ps(to + i, _mm512_cvtph_ps(bits));
  }
  if (i < n) {
    const __mmask16 lanes = FirstLanes(n - i);
    const __m256i bits = _mm256_maskz_loadu_epi16(lanes, from + i);
    _mm512_mask_storeu_ps(to + i, lanes, _mm512_cvtph_ps(bits));
  }
}

inline void HalfBitsOfFloats(const float* from, int64_t n, uint16_t* to) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256i bits = _mm512_cvtps_ph(_mm512_loadu_ps(from + i), kNearest);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), bits);
  }
  if (i < n) {
    const __mmask16 lanes = FirstLanes(n - i);
    const __m256i bits = _mm512_cvtps_ph(_mm512_maskz_loadu_ps(lanes, from + i), kNearest);
    _mm256_mask_storeu_epi16(to + i, lanes, bits);
  }
}

inline int64_t FloatsOfBfloatVectors(const uint16_t* from, int64_t n, float* to) {
  constexpr __mmask32 kUpper = 0xaaaaaaaa;  // of each float, the half that the bits are
  alignas(64) constexpr uint16_t kWords[32] = {0, 0,  0, 1,  0, 2,  0, 3,  0, 4, 0,
                                               5, 0,  6, 0,  7, 0,  8, 0,  9, 0, 10,
                                               0, 11, 0, 12, 0, 13, 0, 14, 0, 15};
  const __m512i low = _mm512_load_si512(kWords);
  const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m512i bits = _mm512_loadu_si512(from + i);
    _mm512_storeu_si512(to + i, _mm512_maskz_permutexvar_epi16(kUpper, low, bits));
    _mm512_storeu_si512(to + i + 16, _mm512_maskz_permutexvar_epi16(kUpper, high, bits));
  }
  // Whole vectors are stored without a mask, since a load after a masked store may have to wait for
  // it.
  if (i + 16 <= n) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm512_storeu_si512(to + i, _mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
    i += 16;
  }
  if (i < n) {
    const __mmask16 lanes = FirstLanes(n - i);
    const __m512i bits = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, from + i));
    _mm512_mask_storeu_epi32(to + i, lanes, _mm512_slli_epi32(bits, 16));
  }
  return n;
}

// The bfloat16 nearest to each float, in its upper half. A NaN stays one: a carry out of its digits
// would make it infinite.
inline __m512i NearestBfloats(__m512 v) {
  const __m512i bits = _mm512_castps_si512(v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  return _mm512_mask_or_epi32(up, nan, bits, _mm512_set1_epi32(0x400000));
}
// The bfloat16 of two vectors of floats, in order.
inline __m512i NearestBfloats(__m512 low, __m512 high) {
  alignas(64) constexpr uint16_t kWords[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                               23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                               45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  return _mm512_permutex2var_epi16(NearestBfloats(low), _mm512_load_si512(kWords),
                                   NearestBfloats(high));
}

// Compares bits, because comparisons of numbers may take them for zeros (SetFlushDenormals).
inline int Subnormals(__m512 v) {
  const __m512i bits = _mm512_castps_si512(v);
  const __mmask16 small = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(0x7f800000));
  return _mm512_mask_test_epi32_mask(small, bits, _mm512_set1_epi32(0x007fffff));
}

// Uses the processor's own rounding, which takes a third of the time and makes subnormal numbers
// zero. Requires: n is a multiple of 32, and ThisCpu().bfloat_dot.
__attribute__((target("avx512bf16"))) FIRN_NOINLINE inline void RoundByProcessor(const float* from,
                                                                                 int64_t n,
                                                                                 uint16_t* to) {
  for (int64_t i = 0; i < n; i += 32) {
    const __m512 low = _mm512_loadu_ps(from + i), high = _mm512_loadu_ps(from + i + 16);
    if ((Subnormals(low) | Subnormals(high)) == 0) [[likely]] {
      const __m512bh bits = _mm512_cvtne2ps_pbh(high, low);
      std::memcpy(to + i, &bits, sizeof(bits));
    } else {
      _mm512_storeu_si512(to + i, NearestBfloats(low, high));
    }
  }
}

inline const bool kRoundsByProcessor = ThisCpu().bfloat_dot;

inline int64_t BfloatVectorsOfFloats(const float* from, int64_t n, uint16_t* to) {
  int64_t i = 0;
  if (n >= 32 && kRoundsByProcessor) {
    i = n / 32 * 32;
    RoundByProcessor(from, i, to);
  }
  for (; i + 32 <= n; i += 32) {
    _mm512_storeu_si512(to + i,
                        NearestBfloats(_mm512_loadu_ps(from + i), _mm512_loadu_ps(from + i + 16)));
  }
  if (i + 16 <= n) {
    const __m512i bits = NearestBfloats(_mm512_loadu_ps(from + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16)));
    i += 16;
  }
  if (i < n) {
    const __mmask16 lanes = FirstLanes(n - i);
    const __m512i bits = NearestBfloats(_mm512_maskz_loadu_ps(lanes, from + i));
    _mm256_mask_storeu_epi16(to + i, lanes, _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16)));
  }
  return n;
}

#else  // levels without masks

// `whole` counts the numbers that vectors convert: where n is known, the compiler sees that no rest
// is left, and does not warn about the loop for it.
inline void FloatsOfHalfBits(const uint16_t* from, int64_t n, float* to) {
  int64_t whole = 0;
#if FIRN_LEVEL == 3
  whole = n / 8 * 8;
  for (int64_t i = 0; i < whole; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
#endif
  for (int64_t i = whole; i < n; ++i) to[i] = FloatOfHalfBits(from[i]);
}

inline void HalfBitsOfFloats(const float* from, int64_t n, uint16_t* to) {
  int64_t whole = 0;
#if FIRN_LEVEL == 3
  whole = n / 8 * 8;
  for (int64_t i = 0; i < whole; i += 8) {
    const __m128i bits =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
#endif
  for (int64_t i = whole; i < n; ++i) to[i] = HalfBits(from[i]);
}

inline int64_t FloatsOfBfloatVectors(const uint16_t*, int64_t, float*) { return 0; }
inline int64_t BfloatVectorsOfFloats(const float*, int64_t, uint16_t*) { return 0; }

#endif

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_HALF_ROWS_H_
