#ifndef FIRN_DEVICE_BFLOAT_DOT_H_
#define FIRN_DEVICE_BFLOAT_DOT_H_

#include <cstdint>

#include "firn/device/cpu.h"
#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"

// Products of bfloat16 by the processor's instruction for them.
namespace firn::inner::internal {

// Whether AddBfloatDot may be called: code for it is part of level 4.
inline bool HasBfloatDot() { return FIRN_LEVEL >= 4 && ThisCpu().bfloat_dot; }

// Bits of as many bfloat16 as two registers hold as floats.
using Bfloats = Vec<uint16_t>;

// Adds to each lane of `sum` the products of two lanes: denormal numbers count as zeros. Requires:
// HasBfloatDot().
FIRN_ALWAYS_INLINE Vec<float> AddBfloatDot(Vec<float> sum, [[maybe_unused]] Bfloats a,
                                           [[maybe_unused]] Bfloats b) {
#if FIRN_LEVEL >= 4
  // The compiler's intrinsic is not used: it is inlined only into functions for the same target,
  // and those that call this one are templates for other types too.
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
#endif
  return sum;
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_BFLOAT_DOT_H_
