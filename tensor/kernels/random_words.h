#ifndef FIRN_TENSOR_KERNELS_RANDOM_WORDS_H_
#define FIRN_TENSOR_KERNELS_RANDOM_WORDS_H_

// Parts shared by kernels that draw numbers, on every device.

#include <cstdint>

#include "firn/device/macros.h"

namespace firn {

// A number in [0, range) from 64 random bits; the bias is below range / 2^64.
FIRN_HOST_DEVICE inline uint64_t BelowFrom(uint64_t range, uint32_t high, uint32_t low) {
  const uint64_t word = (uint64_t{high} << 32) | low;
  return static_cast<uint64_t>((static_cast<unsigned __int128>(word) * range) >> 64);
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_RANDOM_WORDS_H_
