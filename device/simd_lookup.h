#ifndef FIRN_DEVICE_SIMD_LOOKUP_H_
#define FIRN_DEVICE_SIMD_LOOKUP_H_

#include <cstdint>
#include <type_traits>

#include "device/macros.h"
#include "device/own_flags.h"
#include "device/product_rest.h"
#include "device/simd.h"

// Lanes out of small tables that stay in registers.
namespace firn::inner::internal {

// Whether it takes one instruction: AVX-512's registers hold half of a table each.
inline constexpr bool kFastLookUp = kSimdBytes == 64;

// Of T, float or double: 32 or 16 of them. Copies whose address nobody has stay in registers.
template <class T>
inline constexpr int kTableSize = static_cast<int>(128 / sizeof(T));
template <class T>
struct Table {
  Vec<T> lanes[kTableSize<T> / kSimdLanes<T>];
};

// The integer as wide as T.
template <class T>
using IntOf = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// Lane j is entry i[j], or that of its last bits.
template <class T>
FIRN_ALWAYS_INLINE Vec<T> LookUp(const Table<T>& table, Vec<IntOf<T>> i) {
  if constexpr (kFastLookUp) {
    return __builtin_shuffle(table.lanes[0], table.lanes[1], i);
  } else {
    constexpr int kLanes = static_cast<int>(kSimdLanes<T>);
    Vec<T> y;
    for (int j = 0; j < kLanes; ++j) {
      const int at = static_cast<int>(i[j] & (kTableSize<T> - 1));
      y[j] = table.lanes[at / kLanes][at % kLanes];
    }
    return y;
  }
}

// As ProductRest of numbers, by lane.
template <class V>
FIRN_ALWAYS_INLINE V ProductRest(V a, V b, V p) {
  constexpr int kLanes = static_cast<int>(sizeof(V) / sizeof(a[0]));
  V rest;
  for (int j = 0; j < kLanes; ++j) rest[j] = inner::ProductRest(a[j], b[j], p[j]);
  return rest;
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_SIMD_LOOKUP_H_
