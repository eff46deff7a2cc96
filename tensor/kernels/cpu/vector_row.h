#ifndef FIRN_TENSOR_KERNELS_CPU_VECTOR_ROW_H_
#define FIRN_TENSOR_KERNELS_CPU_VECTOR_ROW_H_

// The row of a functor that has a version for registers of numbers (elementwise.h).

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"
#include "firn/device/simd_lookup.h"
#include "firn/device/simd_part.h"

namespace firn::cpu::internal {

// The row of a functor with Vectors. It prefetches memory well ahead: there are so many
// instructions between two registers that the processor does not look far enough ahead, and a third
// of the time was spent on waiting.
template <unsigned kMoving, class Vectors, class T, class... In, size_t... I>
FIRN_ALWAYS_INLINE void VectorRow(T* out, std::tuple<const In*...> in, int64_t n,
                                  std::index_sequence<I...>) {
  constexpr int64_t kLanes = kSimdLanes<T>;
  const Vectors fn;
  const std::tuple<In...> still(*std::get<I>(in)...);
  const auto some = [&](int64_t at, int64_t count) __attribute__((always_inline)) {
    const auto read = [&](const T* x, T one, bool moves) __attribute__((always_inline)) {
      if (moves) return inner::internal::LoadPart(x + at, count);
      Vec<T> v;
      for (int64_t i = 0; i < kLanes; ++i) v[i] = one;
      return v;
    };
    const Vec<T> y = fn(read(std::get<I>(in), std::get<I>(still), (kMoving >> I & 1u) != 0)...);
    inner::internal::StorePart<T>(y, count, out + at);
  };
  constexpr int64_t kAhead = 32 * kLanes;
  int64_t at = 0;
  for (; at + kLanes <= n; at += kLanes) {
    if (at + kAhead < n) {
      (((kMoving >> I & 1u) != 0 ? __builtin_prefetch(std::get<I>(in) + at + kAhead) : void()),
       ...);
      __builtin_prefetch(out + at + kAhead, 1);
    }
    some(at, kLanes);
  }
  if (at < n) some(at, n - at);
}
template <class F, class Out, class... In>
inline constexpr bool kHasVectors = requires {
  typename F::template Vectors<Out>;
}
&&inner::internal::kFastLookUp && (std::is_same_v<In, Out> && ...);

}  // namespace firn::cpu::internal

#endif  // FIRN_TENSOR_KERNELS_CPU_VECTOR_ROW_H_
