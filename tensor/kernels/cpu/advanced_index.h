#ifndef FIRN_TENSOR_KERNELS_CPU_ADVANCED_INDEX_H_
#define FIRN_TENSOR_KERNELS_CPU_ADVANCED_INDEX_H_

#include <algorithm>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/index.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/problems/advanced_index.h"

namespace firn::cpu {

// Where the elements of an advanced index lie in x (any strides): element [b, p, a, i] of the dense
// result at before[b] + position[p] + after[a] + i * step.
struct IndexedRuns {
  int64_t num_before = 1, num_positions = 1, num_after = 1, inner = 1, step = 1;
  // Both are null when the result is empty.
  const int64_t *before = nullptr, *position = nullptr, *after = nullptr;

  // Whether there is but one element at a position.
  bool points() const { return num_after * inner == 1; }
};

// The elements of scratch memory that the tables take.
int64_t IndexedRunsSize(const AdvancedIndex& a, const Shape& x);
// The index tensors are the contiguous inputs from `first` on.
IndexedRuns MakeIndexedRuns(const AdvancedIndex& a, const TensorSpec& x, const KernelContext& k,
                            int first, int64_t* memory);

template <class T>
void ReadRuns(const IndexedRuns& r, const T* x, T* out) {
  if (r.before == nullptr) return;
  const auto run = [&](const T* from, T* to) {
    if (r.step == 1) return CopyRun(from, r.inner, to);
    for (int64_t i = 0; i < r.inner; ++i) to[i] = from[i * r.step];
  };
  const auto runs = [&](int64_t b, int64_t p) {
    const T* const from = x + r.before[b] + r.position[p];
    T* const to = out + (b * r.num_positions + p) * r.num_after * r.inner;
    for (int64_t a = 0; a < r.num_after; ++a) run(from + r.after[a], to + a * r.inner);
  };
  const auto points = [&](int64_t b, int64_t begin, int64_t end) {
    const T* const from = x + r.before[b] + r.after[0];
    T* const to = out + b * r.num_positions;
    for (int64_t p = begin; p < end; ++p) to[p] = from[r.position[p]];
  };
  const int64_t rows = r.num_before * r.num_positions;
  const int64_t work = r.num_after * r.inner;
  ParallelFor(rows, std::max<int64_t>(1, 16384 / work), [&](int64_t begin, int64_t end) {
    ForEachRowOf(begin, end, r.num_positions, [&](int64_t b, int64_t first, int64_t last) {
      if (r.points()) return points(b, first, last);
      for (int64_t p = first; p < last; ++p) runs(b, p);
    });
  });
}

// combine(y at the place, value) for every value, positions in order, so that a place that occurs
// several times gets the same result with any number of threads.
template <class Y, class T, class F>
void WriteRuns(const IndexedRuns& r, const T* values, Y* y, const F& combine) {
  if (r.before == nullptr) return;
  const int64_t columns = r.num_before * r.num_after * r.inner;
  // Elements [first, last) of the runs of all positions.
  const auto column = [&](int64_t b, int64_t a, int64_t first, int64_t last) {
    Y* const base = y + r.before[b] + r.after[a];
    for (int64_t p = 0; p < r.num_positions; ++p) {
      Y* const to = base + r.position[p];
      const T* const from = values + ((b * r.num_positions + p) * r.num_after + a) * r.inner;
      ForEachStripAs<Y>(from + first, last - first, [&](const Y* v, int64_t at, int64_t n) {
        Y* const run = to + (first + at) * r.step;
        if (r.step == 1) {
          FIRN_INDEPENDENT_STEPS
          for (int64_t i = 0; i < n; ++i) combine(run[i], v[i]);
        } else {
          for (int64_t i = 0; i < n; ++i) combine(run[i * r.step], v[i]);
        }
      });
    }
  };
  const auto points = [&](int64_t b) {
    Y* const base = y + r.before[b] + r.after[0];
    const int64_t* const position = r.position;
    ForEachStripAs<Y>(values + b * r.num_positions, r.num_positions,
                      [&](const Y* v, int64_t at, int64_t n) {
                        for (int64_t p = 0; p < n; ++p) combine(base[position[at + p]], v[p]);
                      });
  };
  ParallelFor(columns, std::max<int64_t>(64, 16384 / std::max<int64_t>(r.num_positions, 1)),
              [&](int64_t begin, int64_t end) {
                ForEachRowOf(begin, end, r.inner, [&](int64_t line, int64_t first, int64_t last) {
                  if (r.points()) return points(line);
                  column(line / r.num_after, line % r.num_after, first, last);
                });
              });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ADVANCED_INDEX_H_
