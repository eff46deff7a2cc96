#ifndef FIRN_DEVICE_HALF_ROWS_H_
#define FIRN_DEVICE_HALF_ROWS_H_

#include <cstdint>
#include <cstring>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "device/half_bits.h"
#include "device/own_flags.h"

// Half types as bits, to and from float, many at a time: of conversions of single ones, g++ 12
// makes no vectors for IEEE binary16 and slow ones for bfloat16.
namespace firn::inner::internal {

#if defined(__AVX512BW__) && defined(__AVX512VL__)
// The first n of 16 lanes, or all of them.
inline __mmask16 FirstLanes(int64_t n) {
  return static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1u);
}
#endif

// to[i] = FloatOfHalfBits(from[i]) for i < n. The two do not overlap.
inline void FloatsOfHalfBits(const uint16_t* from, int64_t n, float* to) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm512_storeu_ps(to + i, _mm512_cvtph_ps(bits));
  }
#endif
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if (i < n) {
    const __mmask16 lanes = FirstLanes(n - i);
    const __m256i bits = _mm256_maskz_loadu_epi16(lanes, from + i);
    _mm512_mask_storeu_ps(to + i, lanes, _mm512_cvtph_ps(bits));
    return;
  }
#elif defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
#endif
  for (; i < n; ++i) to[i] = FloatOfHalfBits(from[i]);
}

// to[i] = HalfBits(from[i]): rounded to nearest even.
inline void HalfBitsOfFloats(const float* from, int64_t n, uint16_t* to) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m256i bits =
        _mm512_cvtps_ph(_mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), bits);
  }
#endif
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if (i < n) {
    const __mmask16 lanes = FirstLanes(n - i);
    const __m256i bits = _mm512_cvtps_ph(_mm512_maskz_loadu_ps(lanes, from + i),
                                         _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_mask_storeu_epi16(to + i, lanes, bits);
    return;
  }
#elif defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
#endif
  for (; i < n; ++i) to[i] = HalfBits(from[i]);
}

// The same for bfloat16, of the first elements: all of them or, on processors without masks or
// without such vectors, as many as there are whole vectors. Returns their number.
inline int64_t FloatsOfBfloatVectors([[maybe_unused]] const uint16_t* from,
                                     [[maybe_unused]] int64_t n, [[maybe_unused]] float* to) {
  int64_t i = 0;
#if defined(__AVX512BW__)
  constexpr __mmask32 kUpper = 0xaaaaaaaa;  // of each float, the half that the bits are
  alignas(64) constexpr uint16_t kWords[32] = {0, 0,  0, 1,  0, 2,  0, 3,  0, 4, 0,
                                               5, 0,  6, 0,  7, 0,  8, 0,  9, 0, 10,
                                               0, 11, 0, 12, 0, 13, 0, 14, 0, 15};
  const __m512i low = _mm512_load_si512(kWords);
  const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
  for (; i + 32 <= n; i += 32) {
    const __m512i bits = _mm512_loadu_si512(from + i);
    _mm512_storeu_si512(to + i, _mm512_maskz_permutexvar_epi16(kUpper, low, bits));
    _mm512_storeu_si512(to + i + 16, _mm512_maskz_permutexvar_epi16(kUpper, high, bits));
  }
#endif
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  // Whole vectors apart: what follows a store under a mask may have to wait for it.
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
#endif
  return i;
}

#if defined(__AVX512BW__)
// The bfloat16 nearest to each float, in its upper half. A NaN stays one: a carry out of its digits
// would make it infinite.
inline __m512i NearestBfloats(__m512 v) {
  const __m512i bits = _mm512_castps_si512(v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i up = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  return _mm512_mask_or_epi32(up, nan, bits, _mm512_set1_epi32(0x400000));
}
#endif

#if defined(__AVX512BF16__)
// By their bits, for comparisons may take them for zeros (SetFlushDenormals).
inline int Subnormals(__m512 v) {
  const __m512i bits = _mm512_castps_si512(v);
  const __mmask16 small = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(0x7f800000));
  return _mm512_mask_test_epi32_mask(small, bits, _mm512_set1_epi32(0x007fffff));
}
#endif

inline int64_t BfloatVectorsOfFloats([[maybe_unused]] const float* from, [[maybe_unused]] int64_t n,
                                     [[maybe_unused]] uint16_t* to) {
  int64_t i = 0;
#if defined(__AVX512BW__)
  alignas(64) constexpr uint16_t kWords[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21,
                                               23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43,
                                               45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  const __m512i words = _mm512_load_si512(kWords);
  for (; i + 32 <= n; i += 32) {
    const __m512 low = _mm512_loadu_ps(from + i), high = _mm512_loadu_ps(from + i + 16);
#if defined(__AVX512BF16__)
    // The processor's own rounding takes a third of the time and makes zeros of subnormal numbers.
    if ((Subnormals(low) | Subnormals(high)) == 0) [[likely]] {
      const __m512bh bits = _mm512_cvtne2ps_pbh(high, low);
      std::memcpy(to + i, &bits, sizeof(bits));
      continue;
    }
#endif
    _mm512_storeu_si512(
        to + i, _mm512_permutex2var_epi16(NearestBfloats(low), words, NearestBfloats(high)));
  }
#endif
#if defined(__AVX512BW__) && defined(__AVX512VL__)
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
#endif
  return i;
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_HALF_ROWS_H_
