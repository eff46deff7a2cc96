#ifndef FIRN_DEVICE_SIMD_LOOKUP_H_
#define FIRN_DEVICE_SIMD_LOOKUP_H_

#include <cstdint>
#include <type_traits>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/product_rest.h"
#include "firn/device/simd.h"

// Clang has no shuffle by lanes that are not constants, but has the processor's intrinsics, as g++
// does.
#if FIRN_LEVEL >= 4
#include <immintrin.h>
#endif

// Lanes out of small tables that stay in registers.
namespace firn::inner::internal {

// Whether it takes one instruction: AVX-512's registers hold half of a table each.
inline constexpr bool kFastLookUp = kSimdBytes == 64;

// 32 or 16 numbers of T, which is float or double. Copies whose address is not taken stay in
// registers.
template <class T>
inline constexpr int kTableSize = static_cast<int>(128 / sizeof(T));
template <class T>
struct Table {
  Vec<T> lanes[kTableSize<T> / kSimdLanes<T>];
};

// The integer as wide as T.
template <class T>
using IntOf = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// Lane j is entry i[j], of which only the lowest bits count.
template <class T>
FIRN_ALWAYS_INLINE Vec<T> LookUp(const Table<T>& table, Vec<IntOf<T>> i) {
#if FIRN_LEVEL >= 4
  const __m512i at = reinterpret_cast<__m512i>(i);
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Vec<T>>(_mm512_permutex2var_ps(
        reinterpret_cast<__m512>(table.lanes[0]), at, reinterpret_cast<__m512>(table.lanes[1])));
  } else {
    return reinterpret_cast<Vec<T>>(_mm512_permutex2var_pd(
        reinterpret_cast<__m512d>(table.lanes[0]), at, reinterpret_cast<__m512d>(table.lanes[1])));
  }
#else
  constexpr int kLanes = static_cast<int>(kSimdLanes<T>);
  Vec<T> y;
  for (int j = 0; j < kLanes; ++j) {
    const int at = static_cast<int>(i[j] & (kTableSize<T> - 1));
    y[j] = table.lanes[at / kLanes][at % kLanes];
  }
  return y;
#endif
}

// Like ProductRest of numbers, by lane.
template <class V>
FIRN_ALWAYS_INLINE V ProductRest(V a, V b, V p) {
  constexpr int kLanes = static_cast<int>(sizeof(V) / sizeof(a[0]));
  V rest;
  for (int j = 0; j < kLanes; ++j) rest[j] = inner::ProductRest(a[j], b[j], p[j]);
  return rest;
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_SIMD_LOOKUP_H_
