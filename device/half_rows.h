#ifndef FIRN_DEVICE_HALF_ROWS_H_
#define FIRN_DEVICE_HALF_ROWS_H_

#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "device/half_bits.h"
#include "device/own_flags.h"

// IEEE binary16 as bits, to and from float, many at a time: g++ 12 makes no vectors of the
// conversions of single ones.
namespace firn::inner::internal {

// to[i] = FloatOfHalfBits(from[i]) for i < n. The two do not overlap.
inline void FloatsOfHalfBits(const uint16_t* from, int64_t n, float* to) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm512_storeu_ps(to + i, _mm512_cvtph_ps(bits));
  }
#endif
#if defined(__F16C__)
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
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i bits =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
#endif
  for (; i < n; ++i) to[i] = HalfBits(from[i]);
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_HALF_ROWS_H_
