#ifndef FIRN_TENSOR_KERNELS_DIVIDE_H_
#define FIRN_TENSOR_KERNELS_DIVIDE_H_

#include <cstdint>

#include "firn/device/macros.h"

namespace firn {

// How many pieces of `by` cover n. Requires: n >= 0, by > 0.
FIRN_HOST_DEVICE constexpr int64_t CeilDiv(int64_t n, int64_t by) {
  return n / by + (n % by != 0 ? 1 : 0);
}

// The next multiple of `by` from n on.
FIRN_HOST_DEVICE constexpr int64_t RoundUp(int64_t n, int64_t by) { return CeilDiv(n, by) * by; }

// Takes the last digit of `i` to the base `size`: returns i % size, and i becomes i / size. A
// 64-bit division takes several times as long as the check for a 32-bit one.
// Requires: i >= 0, size > 0.
FIRN_HOST_DEVICE inline int64_t TakeDigit(int64_t& i, int64_t size) {
  if (((i | size) >> 32) == 0) {
    const auto n = static_cast<uint32_t>(i), by = static_cast<uint32_t>(size);
    i = n / by;
    return n % by;
  }
  const int64_t digit = i % size;
  i /= size;
  return digit;
}

// i / size alone.
FIRN_HOST_DEVICE inline int64_t Quotient(int64_t i, int64_t size) {
  TakeDigit(i, size);
  return i;
}

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_DIVIDE_H_
