#ifndef FIRN_DEVICE_SIMD_SUMS_H_
#define FIRN_DEVICE_SIMD_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"

// Sums, or other combinations of two numbers to one, over the lanes of several vectors at once.
// They take as many additions as there are vectors.
namespace firn::inner::internal {

// The source of lane `to` of the halved groups: a lane of the first half of a group of x, or of y,
// whose lanes count on from x's.
constexpr int FromLane(int group, size_t to) {
  const auto half = static_cast<size_t>(group / 2);
  return static_cast<int>(to / half) * group + static_cast<int>(to % half);
}
// x and y hold groups of kGroup lanes that belong together; the result has the groups of x and then
// those of y, of half as many lanes with the same sums.
template <class T, int kGroup, class F, size_t... I>
FIRN_ALWAYS_INLINE Vec<T> HalveGroups(Vec<T> x, Vec<T> y, const F& f, std::index_sequence<I...>) {
  return f(__builtin_shufflevector(x, y, FromLane(kGroup, I)...),
           __builtin_shufflevector(x, y, (FromLane(kGroup, I) + kGroup / 2)...));
}

// Lane i of the result combines all lanes of v[i] by f, which takes two vectors; there are as many
// vectors as lanes. f combines the first half of the lanes with the second, then the halves of the
// result, and so on.
template <class T, class F, int kGroup = static_cast<int>(kSimdLanes<T>)>
FIRN_ALWAYS_INLINE Vec<T> CombineLanes(const Vec<T>* v, const F& f) {
  constexpr auto kLanes = std::make_index_sequence<static_cast<size_t>(kSimdLanes<T>)>();
  if constexpr (kGroup == 1) {
    return v[0];
  } else {
    Vec<T> half[kGroup / 2];
    for (int i = 0; i < kGroup / 2; ++i) {
      half[i] = HalveGroups<T, kGroup>(v[2 * i], v[2 * i + 1], f, kLanes);
    }
    return CombineLanes<T, F, kGroup / 2>(half, f);
  }
}
template <class T>
FIRN_ALWAYS_INLINE Vec<T> SumOfLanes(const Vec<T>* v) {
  return CombineLanes<T>(v, [](Vec<T> x, Vec<T> y) { return x + y; });
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_SIMD_SUMS_H_
