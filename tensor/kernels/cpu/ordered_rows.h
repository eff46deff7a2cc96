#ifndef FIRN_TENSOR_KERNELS_CPU_ORDERED_ROWS_H_
#define FIRN_TENSOR_KERNELS_CPU_ORDERED_ROWS_H_

// Adds rows to rows of a result. It first finds out which rows are added to each one, so that each
// thread can take some rows of the result. Half types are added up in floats while they are in the
// nearest cache; a whole result in floats, to which rows could be added in any order, would have to
// be cleared, read, written and rounded.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/index.h"
#include "firn/tensor/problems/index_rules.h"

namespace firn::cpu {

// Whether AddOrderedRows is the fast way: for many rows that are long enough to be worth finding
// their order, a result larger than the nearest cache, and at least one index for so many of its
// rows. The order counts in 32 bits.
inline bool OrdersRows(const IndexPlan& p) {
  constexpr int64_t kLeastRow = 16, kLeastRows = 64, kLeastElements = 1 << 15, kFew = 64;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() - 1;
  const int64_t rows = p.outer * p.n;
  return p.inner >= kLeastRow && rows >= kLeastRows && rows * p.inner >= kLeastElements &&
         p.n <= kMost && p.count <= kMost && p.count * kFew >= p.n;
}

// Bytes of memory that AddOrderedRows needs.
inline size_t OrderBytes(const IndexPlan& p) {
  return static_cast<size_t>(p.count + p.n + 1) * sizeof(int32_t);
}

// Which numbers are added to each of n rows: row i gets order[j] for starts[i] <= j < starts[i +
// 1], in this order.
struct RowOrder {
  int32_t *starts, *order;

  template <class I>
  RowOrder(const IndexPlan& p, const I* indices, void* memory)
      : starts(static_cast<int32_t*>(memory)), order(starts + p.n + 1) {
    // Counts one place further on: each start moves on while its row is filled, and ends where the
    // next row begins.
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

  // The first row of a part of all lines' rows, chosen so that all parts have as much to add: some
  // indices occur far more often than others.
  int64_t Begin(const IndexPlan& p, int64_t part, int64_t parts) const {
    const int64_t line = p.n + starts[p.n], before = line * p.outer * part / parts;
    int64_t begin = 0, end = p.n;
    while (begin < end) {
      const int64_t middle = begin + (end - begin) / 2;
      middle + starts[middle] < before % line ? begin = middle + 1 : end = middle;
    }
    return before / line * p.n + begin;
  }
};

// Adds alpha times rows of `from` to a row of y, of n elements: the rows at places [k, behind) of
// the order.
template <class T>
void AddToRow(const RowOrder& rows, int32_t k, int32_t behind, ComputeOf<T> alpha, const T* from,
              int64_t n, T* y) {
  constexpr int64_t kStrip = 256;
  Piece<T, kStrip> to, other;
  for (int64_t at = 0; at < n; at += kStrip) {
    const int64_t some = std::min(kStrip, n - at);
    to.Read(y + at, some);
    auto* const sums = to.Room(y + at);
    for (int32_t i = k; i < behind; ++i) {
      const auto* const values = other.Read(from + rows.order[i] * n + at, some);
      FIRN_INDEPENDENT_STEPS
      for (int64_t c = 0; c < some; ++c) sums[c] += alpha * values[c];
    }
    to.Write(y + at, some);
  }
}

// y[b, o, index[b, k], :] += alpha * source[b, o, k, :] except where the index is p.ignored, in
// order of k, rounded once. Requires: OrdersRows(p), and OrderBytes(p) of memory.
template <class T, class I>
void AddOrderedRows(const IndexPlan& p, const I* index, ComputeOf<T> alpha, const T* source, T* y,
                    void* memory) {
  constexpr int64_t kParts = 64;
  for (int64_t batch = 0; batch < p.batch; ++batch) {
    const RowOrder rows(p, index + batch * p.count, memory);
    ParallelFor(kParts, 1, [&](int64_t first_part, int64_t last_part) {
      const int64_t begin = rows.Begin(p, first_part, kParts),
                    end = rows.Begin(p, last_part, kParts);
      ForEachRowOf(begin, end, p.n, [&](int64_t o, int64_t first, int64_t last) {
        const int64_t line = batch * p.outer + o;
        const T* const from = source + line * p.count * p.inner;
        for (int64_t i = first; i < last; ++i) {
          const int32_t k = rows.starts[i], behind = rows.starts[i + 1];
          if (k == behind) continue;
          for (int64_t ahead = k; ahead < behind; ++ahead) {
            if (ahead + kRunsAhead >= rows.starts[last]) break;
            Prefetch<false>(from + rows.order[ahead + kRunsAhead] * p.inner, p.inner);
          }
          AddToRow(rows, k, behind, alpha, from, p.inner, y + (line * p.n + i) * p.inner);
        }
      });
    });
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ORDERED_ROWS_H_
