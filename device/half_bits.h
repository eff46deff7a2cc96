#ifndef FIRN_DEVICE_HALF_BITS_H_
#define FIRN_DEVICE_HALF_BITS_H_

#include <bit>
#include <cstdint>

#include "firn/device/macros.h"

// IEEE binary16 and bfloat16 (the upper half of a float) as bits, to and from float, rounded to
// nearest even. With binary16 each is one instruction where the processor has it.
namespace firn::inner::internal {

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE uint16_t HalfBits(float v) {
#if defined(__CUDA_ARCH__)
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
  return bits;
#else
  return std::bit_cast<uint16_t>(static_cast<_Float16>(v));
#endif
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float FloatOfHalfBits(uint16_t bits) {
#if defined(__CUDA_ARCH__)
  float v;
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
  return v;
#else
  const float v = static_cast<float>(std::bit_cast<_Float16>(bits));
  // The barrier hides from g++ that the number was a half. Otherwise g++ compares two of them, and
  // widens them to double, as halves, which calls its library where the processor has no arithmetic
  // of halves.
#if !defined(__CUDACC__) && __has_builtin(__builtin_assoc_barrier)
  return __builtin_assoc_barrier(v);
#else
  return v;
#endif
#endif
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE uint16_t BFloatBits(float v) {
  const uint32_t bits = std::bit_cast<uint32_t>(v);
  const uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<uint16_t>((v != v ? (bits | 0x400000u) : rounded) >> 16);
}

FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE float FloatOfBFloatBits(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_HALF_BITS_H_
