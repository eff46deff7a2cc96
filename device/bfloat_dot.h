#ifndef FIRN_DEVICE_BFLOAT_DOT_H_
#define FIRN_DEVICE_BFLOAT_DOT_H_

#include <cstdint>

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

#include "device/own_flags.h"
#include "device/simd.h"

// Products of bfloat16 by the processor's instructions for them.
namespace firn::inner::internal {

#if defined(__AVX512BF16__)
inline constexpr bool kHasBfloatDot = true;
#else
inline constexpr bool kHasBfloatDot = false;
#endif

// Bits of as many bfloat16 as two registers hold as floats.
using Bfloats = Vec<uint16_t>;

// Adds to each lane of `sum` the products of two lanes: denormal numbers count as zeros. Requires:
// kHasBfloatDot.
inline Vec<float> AddBfloatDot(Vec<float> sum, [[maybe_unused]] Bfloats a,
                               [[maybe_unused]] Bfloats b) {
#if defined(__AVX512BF16__)
  const __m512i left = reinterpret_cast<__m512i>(a), right = reinterpret_cast<__m512i>(b);
  sum = _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(left), reinterpret_cast<__m512bh>(right));
#endif
  return sum;
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_BFLOAT_DOT_H_
