#ifndef FIRN_TENSOR_KERNELS_CPU_ASK_AHEAD_H_
#define FIRN_TENSOR_KERNELS_CPU_ASK_AHEAD_H_

// Prefetching. A long functor runs so many instructions between two reads that few reads are under
// way at once, since the processor does not look far enough ahead: for a row of 4M doubles in
// memory, tanh took twice as long without prefetching.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "firn/device/macros.h"

namespace firn::cpu::internal {

// Whether n results of a row are more than a core's cache holds.
template <class Out>
constexpr bool IsFar(int64_t n) {
  return n >= (int64_t{2} << 20) / static_cast<int64_t>(sizeof(Out));
}

// The number of results between two requests.
template <class Out>
inline constexpr int64_t kAskedPiece = 1024 / sizeof(Out);

// Prefetches in[at], ..., in[at + n - 1] of every input whose bit is set. The addresses need not be
// valid.
template <unsigned kMoving, class... In, size_t... I>
FIRN_ALWAYS_INLINE void AskFor(const std::tuple<const In*...>& in, int64_t at, int64_t n,
                               std::index_sequence<I...>) {
  const auto ask = [&](const auto* x) __attribute__((always_inline)) {
    constexpr int64_t kCacheLine = 64 / sizeof(*x);
    for (int64_t i = 0; i < n; i += kCacheLine) __builtin_prefetch(x + at + i, 0, 2);
  };
  (((kMoving >> I & 1u) != 0 ? ask(std::get<I>(in)) : void()), ...);
}

}  // namespace firn::cpu::internal

#endif  // FIRN_TENSOR_KERNELS_CPU_ASK_AHEAD_H_
