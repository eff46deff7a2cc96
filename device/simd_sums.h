#ifndef FIRN_DEVICE_SIMD_SUMS_H_
#define FIRN_DEVICE_SIMD_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"

// Sums of the lanes of vectors, and what else combines two numbers to one, of several vectors at
// once: as many additions as there are vectors, and not as many as those have lanes.
namespace firn::inner::internal {

// Lane `to` of halved groups: from the first half of a group of x, or of y, whose lanes count on.
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

// What f, which takes two vectors, makes of the lanes of v[i] in lane i, for as many vectors as
// they have lanes: of the first half of the lanes and the second, then of the halves of these, and
// so on.
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
