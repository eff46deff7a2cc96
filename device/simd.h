#ifndef FIRN_DEVICE_SIMD_H_
#define FIRN_DEVICE_SIMD_H_

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "device/own_flags.h"

// What the compiler was told about the processor, in one place, so that no other folder needs an
// #ifdef. Everything here follows from the -m flags, and layouts follow from it: all of one program
// must have the same values. That is why only files with Firn's flags may include this, and why no
// header does that a program's own files include.

namespace firn {

#if defined(__AVX512F__)
inline constexpr size_t kSimdBytes = 64;  // of one vector register
#elif defined(__AVX2__)
inline constexpr size_t kSimdBytes = 32;
#else
inline constexpr size_t kSimdBytes = 16;  // SSE2 and NEON
#endif

// Channels of one block of the blocked f32 layouts (nChw16c, nChw8c): one register's worth, but 8
// where registers are narrower than that.
inline constexpr int64_t kChannelBlock = kSimdBytes == 64 ? 16 : 8;

namespace inner::internal {
template <class T>
struct VecOf {
  typedef T type __attribute__((vector_size(kSimdBytes)));
};
}  // namespace inner::internal

// One register of T: +, *, <, ?: work by lane, v[i] reads a lane. Aligned to kSimdBytes; for memory
// that may not be, use std::memcpy, which compiles to one unaligned move.
template <class T>
using Vec = typename inner::internal::VecOf<T>::type;

// Lanes of a Vec<T>.
template <class T>
inline constexpr int64_t kSimdLanes = static_cast<int64_t>(kSimdBytes / sizeof(T));

// The whole products of the lower halves of each lane, whatever lies in the upper halves: one
// instruction, where the compiler knows only products of whole lanes, which are slow.
inline Vec<uint64_t> MultiplyLow32(Vec<uint64_t> a, Vec<uint64_t> b) {
#if defined(__AVX512F__)
  // With a mask of all lanes: g++ 12 warns of its own code without (GCC bug 105593).
  return (Vec<uint64_t>)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Vec<uint64_t>)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

}  // namespace firn

#endif  // FIRN_DEVICE_SIMD_H_
