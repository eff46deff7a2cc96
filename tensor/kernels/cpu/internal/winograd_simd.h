#ifndef FIRN_TENSOR_KERNELS_CPU_INTERNAL_WINOGRAD_SIMD_H_
#define FIRN_TENSOR_KERNELS_CPU_INTERNAL_WINOGRAD_SIMD_H_

#include <cstdint>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/simd.h"

namespace firn::winograd {

/// One channel block: the unit that activations are stored in and every stage computes with. It is
/// two registers where those are narrower than eight floats.
inline constexpr int kBlock = static_cast<int>(kChannelBlock);
typedef float Channels __attribute__((vector_size(kBlock * 4), may_alias));
typedef float UnalignedChannels __attribute__((vector_size(kBlock * 4), aligned(4), may_alias));

/// Eight floats: the shape in which 3x3 filters are turned to and from [tap][channel].
typedef float Row8 __attribute__((vector_size(32), may_alias));
typedef float UnalignedRow8 __attribute__((vector_size(32), aligned(4), may_alias));

FIRN_ALWAYS_INLINE Channels Load(const float* p) { return *reinterpret_cast<const Channels*>(p); }
FIRN_ALWAYS_INLINE Channels LoadUnaligned(const float* p) {
  return *reinterpret_cast<const UnalignedChannels*>(p);
}
FIRN_ALWAYS_INLINE void Store(float* p, Channels v) { *reinterpret_cast<Channels*>(p) = v; }

/// Loads into a register and keeps it there. g++ otherwise turns operands that are used several
/// times into memory operands of each use when registers get scarce; in a matrix product whose
/// register tile just fits, that makes loads the bottleneck (64 instead of 96 GFLOP/s on Zen 3).
FIRN_ALWAYS_INLINE Channels LoadOnce(const float* p) {
  return *reinterpret_cast<const volatile Channels*>(p);
}

/// Calls f(0), f(1), ... f(N - 1) with compile-time indices, so that arrays of vectors indexed by
/// them live in registers whatever the optimisation level.
template <int N, typename F>
FIRN_ALWAYS_INLINE void Unroll(F&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, I>{}), ...);
  }
  (std::make_integer_sequence<int, N>{});
}

/// Transposes an 8x8 matrix held in eight rows, in place.
FIRN_ALWAYS_INLINE void Transpose8(Row8 r[8]) {
  Row8 pair[8];
  Unroll<4>([&](auto i) __attribute__((always_inline)) {
    pair[2 * i] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pair[2 * i + 1] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  });
  Row8 quad[8];
  Unroll<4>([&](auto i) __attribute__((always_inline)) {
    constexpr int kFrom = i / 2 * 4 + i % 2;
    constexpr int kTo = i / 2 * 4 + i % 2 * 2;
    quad[kTo] = __builtin_shufflevector(pair[kFrom], pair[kFrom + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    quad[kTo + 1] =
        __builtin_shufflevector(pair[kFrom], pair[kFrom + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  });
  Unroll<4>([&](auto i) __attribute__((always_inline)) {
    r[i] = __builtin_shufflevector(quad[i], quad[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4] = __builtin_shufflevector(quad[i], quad[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  });
}

}  // namespace firn::winograd

#endif  // FIRN_TENSOR_KERNELS_CPU_INTERNAL_WINOGRAD_SIMD_H_
