#ifndef FIRN_TENSOR_KERNELS_CPU_ORDERED_ROWS_H_
#define FIRN_TENSOR_KERNELS_CPU_ORDERED_ROWS_H_

// Rows of half types added to rows of a result: what comes to one row is found out first, and added
// up in floats while it is in registers or the nearest cache. Floats of the whole result, which the
// rows would be added to in any order, would have to be cleared, read, written and rounded.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/own_flags.h"
#include "device/parallel.h"
#include "tensor/kernels/cpu/half.h"
#include "tensor/kernels/cpu/index.h"
#include "tensor/ops/index/index_rules.h"

namespace firn::cpu {

// Whether AddOrderedRows is the fast way: rows long enough to be worth finding their order. In
// places of 32 bits there are as many as this.
inline bool OrdersRows(const IndexPlan& p) {
  constexpr int64_t kLeast = 16, kMost = std::numeric_limits<int32_t>::max() - 1;
  return p.inner >= kLeast && p.count <= kMost && p.n <= kMost;
}

// Bytes of its memory.
inline size_t OrderBytes(const IndexPlan& p) {
  return static_cast<size_t>(p.count + p.n + 1) * sizeof(int32_t);
}

// What comes to each of the rows of a line: numbers order[starts[i]], ..., order[starts[i + 1] - 1]
// come to row i, in order.
struct RowOrder {
  int32_t *starts, *order;

  template <class I>
  RowOrder(const IndexPlan& p, const I* indices, void* memory)
      : starts(static_cast<int32_t*>(memory)), order(starts + p.n + 1) {
    // Counted one place further on, so that, when each place has moved on by as many, it is where
    // the next row begins.
    std::fill_n(starts, p.n + 1, 0);
    for (int64_t k = 0; k < p.count; ++k) {
      if (indices[k] != p.ignored) ++starts[Wrapped(indices[k], p.n) + 1];
    }
    int32_t before = 0;
    for (int64_t i = 1; i <= p.n; ++i) {
      const int32_t own = starts[i];
      starts[i] = before;
      before += own;
    }
    for (int64_t k = 0; k < p.count; ++k) {
      if (indices[k] == p.ignored) continue;
      order[starts[Wrapped(indices[k], p.n) + 1]++] = static_cast<int32_t>(k);
    }
  }
};

// y[b, o, index[b, k], :] += alpha * source[b, o, k, :] but where the index is p.ignored, in order
// of k, rounded once. Requires: OrdersRows(p), and OrderBytes(p) of memory.
template <class T, class I>
void AddOrderedRows(const IndexPlan& p, const I* index, float alpha, const T* source, T* y,
                    void* memory) {
  constexpr int64_t kStrip = 256;
  const int64_t lines = p.batch * p.outer, grain = std::max<int64_t>(1, 16384 / p.inner);
  for (int64_t line = 0; line < lines; ++line) {
    const RowOrder rows(p, index + line / p.outer * p.count, memory);
    const T* const from = source + line * p.count * p.inner;
    T* const to = y + line * p.n * p.inner;
    ParallelFor(p.n, grain, [&](int64_t begin, int64_t end) {
      const int32_t last = rows.starts[end];
      float sums[kStrip], values[kStrip];
      for (int64_t i = begin; i < end; ++i) {
        const int32_t first = rows.starts[i], behind = rows.starts[i + 1];
        for (int32_t k = first; k < behind && k + kRunsAhead < last; ++k) {
          Prefetch<false>(from + rows.order[k + kRunsAhead] * p.inner, p.inner);
        }
        for (int64_t at = 0; first < behind && at < p.inner; at += kStrip) {
          const int64_t n = std::min(kStrip, p.inner - at);
          T* const row = to + i * p.inner + at;
          ToFloats(row, n, sums);
          for (int32_t k = first; k < behind; ++k) {
            ToFloats(from + rows.order[k] * p.inner + at, n, values);
            for (int64_t c = 0; c < n; ++c) sums[c] += alpha * values[c];
          }
          FromFloats(sums, n, row);
        }
      }
    });
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ORDERED_ROWS_H_
