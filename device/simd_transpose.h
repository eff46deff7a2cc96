#ifndef FIRN_DEVICE_SIMD_TRANSPOSE_H_
#define FIRN_DEVICE_SIMD_TRANSPOSE_H_

// Transposes squares of numbers, with one row in each register.

#include <cstddef>
#include <cstring>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"

namespace firn::inner::internal {

// Interleaves the first or second halves of a and b.
template <int kHalf, class Row, size_t... I>
FIRN_ALWAYS_INLINE Row Interleave(const Row& a, const Row& b, std::index_sequence<I...>) {
  constexpr int kSide = sizeof...(I), kFirst = kHalf * kSide / 2;
  return __builtin_shufflevector(a, b, (kFirst + static_cast<int>(I) / 2 + I % 2 * kSide)...);
}

// Interleaves rows: element i of row r comes to place i * kRows + r of all. Each round interleaves
// row i with the one half of them further down, for all i, which rotates the bits of an element's
// place by one. After as many rounds as a row's number has bits, the rows of a square are columns.
template <int kRows, class Row, size_t... I>
FIRN_ALWAYS_INLINE void InterleaveRows(Row (&a)[kRows], std::index_sequence<I...> lanes) {
  Row b[kRows];
#pragma GCC unroll 4
  for (int bit = 1; bit < kRows; bit *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows / 2; ++i) {
      b[2 * i] = Interleave<0>(a[i], a[i + kRows / 2], lanes);
      b[2 * i + 1] = Interleave<1>(a[i], a[i + kRows / 2], lanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) a[i] = b[i];
  }
}

// Row i is read at from(i), and column i written to to(i).
template <class T, int kSide = static_cast<int>(kSimdLanes<T>), class From, class To>
FIRN_ALWAYS_INLINE void TransposeSquare(const From& from, const To& to) {
  typedef T Row __attribute__((vector_size(kSide * sizeof(T))));
  constexpr std::make_index_sequence<kSide> kLanes;
  Row a[kSide];
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) std::memcpy(&a[i], from(i), sizeof(Row));
  InterleaveRows(a, kLanes);
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) std::memcpy(to(i), &a[i], sizeof(Row));
}

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_SIMD_TRANSPOSE_H_
