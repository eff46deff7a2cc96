#ifndef FIRN_DEVICE_MULTIPLY_LOW_H_
#define FIRN_DEVICE_MULTIPLY_LOW_H_

// It is not in simd.h, because the processor's header takes ten times as long to read.

#include <cstdint>

#include "firn/device/macros.h"
#include "firn/device/simd.h"

#if FIRN_LEVEL >= 3
#include <immintrin.h>
#endif

namespace firn {

// The full products of the lower halves of each lane; the upper halves do not matter. This is one
// instruction; the compiler itself would use slow products of whole lanes.
FIRN_ALWAYS_INLINE Vec<uint64_t> MultiplyLow32(Vec<uint64_t> a, Vec<uint64_t> b) {
#if FIRN_LEVEL >= 4
  // The mask has all lanes: without a mask, g++ 12 warns of its own code (GCC bug 105593).
  return (Vec<uint64_t>)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
#elif FIRN_LEVEL >= 3
  return (Vec<uint64_t>)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

}  // namespace firn

#endif  // FIRN_DEVICE_MULTIPLY_LOW_H_
