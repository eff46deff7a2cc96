#ifndef FIRN_DEVICE_SIMD_LOOKUP_H_
#define FIRN_DEVICE_SIMD_LOOKUP_H_

#include <cstdint>

#include "device/macros.h"
#include "device/own_flags.h"
#include "device/product_rest.h"
#include "device/simd.h"

// Lanes out of small tables that stay in registers.
namespace firn::inner::internal {

// Whether it takes one instruction: AVX-512's registers hold half of a table each.
inline constexpr bool kFastLookUp = kSimdBytes == 64;

// Floats. Copies whose address nobody has stay in registers.
inline constexpr int kTableSize = 32;
struct Table {
  Vec<float> lanes[kTableSize / kSimdLanes<float>];
};

// Lane j is entry i[j], or that of its last five bits.
FIRN_ALWAYS_INLINE Vec<float> LookUp(const Table& table, Vec<int32_t> i) {
  if constexpr (kFastLookUp) {
    return __builtin_shuffle(table.lanes[0], table.lanes[1], i);
  } else {
    constexpr int kLanes = static_cast<int>(kSimdLanes<float>);
    Vec<float> y;
    for (int j = 0; j < kLanes; ++j) {
      const int at = i[j] & (kTableSize - 1);
      y[j] = table.lanes[at / kLanes][at % kLanes];
    }
    return y;
  }
}

// As ProductRest of floats, by lane.
FIRN_ALWAYS_INLINE Vec<float> ProductRest(Vec<float> a, Vec<float> b, Vec<float> p) {
  Vec<float> rest;
  for (int j = 0; j < kSimdLanes<float>; ++j) rest[j] = inner::ProductRest(a[j], b[j], p[j]);
  return rest;
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_SIMD_LOOKUP_H_
