#ifndef FIRN_TENSOR_KERNELS_CPU_ADVANCED_INDEX_H_
#define FIRN_TENSOR_KERNELS_CPU_ADVANCED_INDEX_H_

#include <algorithm>

#include "device/own_flags.h"
#include "device/parallel.h"
#include "tensor/ops/index/advanced_index.h"

namespace firn::cpu {

// Where the elements of an advanced index lie in x (any strides): element [b, p, a, i] of the dense
// result at before[b] + position[p] + after[a] + i * step.
struct IndexedRuns {
  int64_t num_before = 1, num_positions = 1, num_after = 1, inner = 1, step = 1;
  // Null when the result is empty.
  const int64_t *before = nullptr, *position = nullptr, *after = nullptr;
};

// Elements of scratch memory that the tables take.
int64_t IndexedRunsSize(const AdvancedIndex& a, const Shape& x);
// The index tensors are the contiguous inputs from `first` on.
IndexedRuns MakeIndexedRuns(const AdvancedIndex& a, const TensorSpec& x, const KernelContext& k,
                            int first, int64_t* memory);

template <class T>
void ReadRuns(const IndexedRuns& r, const T* x, T* out) {
  if (r.before == nullptr) return;
  const int64_t rows = r.num_before * r.num_positions * r.num_after;
  ParallelFor(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(r.inner, 1)),
              [&](int64_t begin, int64_t end) {
                int64_t a = begin % r.num_after, p = begin / r.num_after % r.num_positions,
                        b = begin / r.num_after / r.num_positions;
                for (int64_t row = begin; row < end; ++row) {
                  const T* from = x + r.before[b] + r.position[p] + r.after[a];
                  T* to = out + row * r.inner;
                  if (r.step == 1) {
                    std::copy(from, from + r.inner, to);
                  } else {
                    for (int64_t i = 0; i < r.inner; ++i) to[i] = from[i * r.step];
                  }
                  if (++a < r.num_after) continue;
                  a = 0;
                  if (++p < r.num_positions) continue;
                  p = 0;
                  ++b;
                }
              });
}

// combine(y at the place, value) for every value, positions in order: a place that occurs several
// times ends the same whatever the number of threads.
template <class Y, class T, class F>
void WriteRuns(const IndexedRuns& r, const T* values, Y* y, const F& combine) {
  if (r.before == nullptr) return;
  const int64_t columns = r.num_before * r.num_after * r.inner;
  ParallelFor(columns, std::max<int64_t>(64, 16384 / std::max<int64_t>(r.num_positions, 1)),
              [&](int64_t begin, int64_t end) {
                for (int64_t at = begin; at < end;) {
                  const int64_t line = at / r.inner, first = at % r.inner;
                  const int64_t last = std::min(r.inner, first + (end - at));
                  const int64_t a = line % r.num_after, b = line / r.num_after;
                  Y* base = y + r.before[b] + r.after[a];
                  for (int64_t p = 0; p < r.num_positions; ++p) {
                    Y* to = base + r.position[p];
                    const T* from =
                        values + ((b * r.num_positions + p) * r.num_after + a) * r.inner;
                    for (int64_t i = first; i < last; ++i) combine(to[i * r.step], from[i]);
                  }
                  at += last - first;
                }
              });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_ADVANCED_INDEX_H_
