#ifndef FIRN_DEVICE_BYTE_MASK_H_
#define FIRN_DEVICE_BYTE_MASK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"

#if FIRN_LEVEL >= 1
#include <immintrin.h>
#endif

// Comparisons of bytes as bits; g++ does not find the instruction for this by itself.
namespace firn::inner::internal {

// The bits of a comparison, which made each byte 0 or all ones, on any processor.
FIRN_ALWAYS_INLINE uint64_t MaskByProducts(Vec<int8_t> compared) {
  uint64_t mask = 0;
  for (size_t i = 0; i < kSimdBytes / 8; ++i) {
    uint64_t eight;
    std::memcpy(&eight, reinterpret_cast<const char*>(&compared) + 8 * i, sizeof(eight));
    // In byte j only bit j is left; the product adds all of these bits up in its last byte.
    mask |= ((eight & 0x8040201008040201) * 0x0101010101010101) >> 56 << (8 * i);
  }
  return mask;
}

// Bit i is whether byte i of a is that of b.
FIRN_ALWAYS_INLINE uint64_t EqualBytes(Vec<uint8_t> a, Vec<uint8_t> b) {
#if FIRN_LEVEL >= 4
  return _mm512_cmpeq_epi8_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b));
#elif FIRN_LEVEL >= 3
  return static_cast<uint32_t>(_mm256_movemask_epi8(reinterpret_cast<__m256i>(a == b)));
#elif FIRN_LEVEL >= 1
  return static_cast<uint32_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(a == b)));
#else
  return MaskByProducts(a == b);
#endif
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_BYTE_MASK_H_
