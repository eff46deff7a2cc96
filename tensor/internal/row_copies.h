#ifndef FIRN_TENSOR_INTERNAL_ROW_COPIES_H_
#define FIRN_TENSOR_INTERNAL_ROW_COPIES_H_

// Rows that are copied backwards, rows whose elements take turns, and elements that are repeated.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/simd.h"
#include "firn/device/simd_transpose.h"

namespace firn::inner::internal {

template <class Row, size_t... I>
FIRN_ALWAYS_INLINE Row Reversed(const Row& a, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, a, (static_cast<int>(sizeof...(I) - 1 - I))...);
}

// to[i] = last[-i] for n elements, from those that lie first in memory on, since processors read
// ahead upwards. A register that is not full at the end takes some elements a second time.
template <class T>
FIRN_ONE_COPY void ReverseRow(int64_t n, const T* last, T* to) {
  constexpr int64_t kLanes = kSimdLanes<T>;
  constexpr std::make_index_sequence<static_cast<size_t>(kLanes)> kOrder;
  if (n < kLanes) {
    for (int64_t i = 0; i < n; ++i) to[i] = last[-i];
    return;
  }
  const auto reverse = [&](int64_t i) {
    Vec<T> row;
    std::memcpy(&row, last - i - (kLanes - 1), sizeof(row));
    row = Reversed(row, kOrder);
    std::memcpy(to + i, &row, sizeof(row));
  };
  int64_t i = n - kLanes;
  for (; i >= 0; i -= kLanes) reverse(i);
  if (i > -kLanes) reverse(0);
}

// to[i * kRows + r] = from[r * from_step + i] for n elements of each of kRows rows.
template <int kRows, class T>
FIRN_ONE_COPY void DealRows(int64_t n, const T* from, int64_t from_step, T* to) {
  int64_t i = 0;
  if constexpr (kRows == 2 || kRows == 4) {
    constexpr int64_t kLanes = kSimdLanes<T>;
    constexpr std::make_index_sequence<static_cast<size_t>(kLanes)> kOrder;
    for (; i + kLanes <= n; i += kLanes) {
      Vec<T> a[kRows];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) std::memcpy(&a[r], from + r * from_step + i, sizeof(a[r]));
      InterleaveRows(a, kOrder);
      std::memcpy(to + i * kRows, a, sizeof(a));
    }
  }
  FIRN_INDEPENDENT_STEPS
  for (; i < n; ++i) {
#pragma GCC unroll 4
    for (int64_t r = 0; r < kRows; ++r) to[i * kRows + r] = from[r * from_step + i];
  }
}

// Elements that lie side by side, each of them `times` times.
template <int64_t kTimes, class T>
void RepeatEach(int64_t n, const T* src, T* dst) {
  FIRN_INDEPENDENT_STEPS
  for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 4
    for (int64_t k = 0; k < kTimes; ++k) dst[i * kTimes + k] = src[i];
  }
}
template <class T>
void RepeatEach(int64_t n, int64_t times, const T* src, T* dst) {
  if (times == 2) return RepeatEach<2>(n, src, dst);
  if (times == 3) return RepeatEach<3>(n, src, dst);
  if (times == 4) return RepeatEach<4>(n, src, dst);
  for (int64_t i = 0; i < n; ++i) std::fill_n(dst + i * times, times, src[i]);
}

}  // namespace firn::inner::internal

#endif  // FIRN_TENSOR_INTERNAL_ROW_COPIES_H_
