#ifndef FIRN_DEVICE_HALF_BITS_H_
#define FIRN_DEVICE_HALF_BITS_H_

#include <bit>
#include <cstdint>

#include "firn/device/macros.h"

// IEEE binary16 as bits, to and from float: one instruction where the processor has it.
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
  return static_cast<float>(std::bit_cast<_Float16>(bits));
#endif
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_HALF_BITS_H_
