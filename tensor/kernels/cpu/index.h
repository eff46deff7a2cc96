#ifndef FIRN_TENSOR_KERNELS_CPU_INDEX_H_
#define FIRN_TENSOR_KERNELS_CPU_INDEX_H_

// Loops of the operations that read or write where an integer tensor says. Indices have been
// checked by Apply; negative ones count from the end.

#include <algorithm>
#include <cstring>

#include "device/own_flags.h"
#include "device/parallel.h"
#include "tensor/kernels/convert.h"
#include "tensor/kernels/width.h"
#include "tensor/op.h"
#include "tensor/ops/index/index_rules.h"

namespace firn::cpu {

// out[i] = the offset of element i of a tensor with these sizes and strides, counted row-major.
// Requires: no size is 0.
void FillOffsets(const Dims& sizes, const Dims& strides, int64_t* out);

// y[b, o, k, :] = x[b, o, index[b, k], :], zeros where the index is p.ignored.
template <class T, class I>
void SelectRows(const IndexPlan& p, const T* x, const I* index, T* y) {
  const int64_t rows = p.batch * p.outer * p.count;
  ParallelFor(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(p.inner, 1)),
              [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r) {
                  const int64_t line = r / p.count;  // of b and o
                  const int64_t i = index[line / p.outer * p.count + r % p.count];
                  T* to = y + r * p.inner;
                  if (i == p.ignored) {
                    std::fill(to, to + p.inner, T{0});
                    continue;
                  }
                  const T* from = x + (line * p.n + (i < 0 ? i + p.n : i)) * p.inner;
                  if (p.inner == 1) {
                    *to = *from;
                  } else {
                    std::memcpy(to, from, static_cast<size_t>(p.inner) * sizeof(T));
                  }
                }
              });
}

// --- Along one dimension, element by element ----------------------------------------------------

// A region of `lines` x `count` x `columns` elements, the dimensions before, at and after the
// indexed one: what gather and scatter_add walk. The other tensors may be larger, so tables say
// where each line and column of the region lies in them.
struct Region {
  Region(const Shape& shape, int dim);
  int64_t lines = 1, count = 1, columns = 1;
  int64_t table_size() const { return lines + columns; }
};
struct Places {
  // Fills `memory` (table_size() elements). Requires: `whole` is at least as large as `region` in
  // every dimension but `dim`.
  Places(const Shape& region, const Shape& whole, int dim, int64_t* memory);
  const int64_t* line;
  const int64_t* column;
  int64_t step;  // along the indexed dimension
};

// y[l, k, c] = x[l, index[l, k, c], c]
template <class T, class I>
void GatherElements(const Region& r, const Places& in_x, int64_t n, const T* x, const I* index,
                    T* y) {
  const int64_t rows = r.lines * r.count;
  ParallelFor(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(r.columns, 1)),
              [&](int64_t begin, int64_t end) {
                int64_t line = begin / r.count, k = begin % r.count;
                for (int64_t row = begin; row < end; ++row) {
                  const T* from = x + in_x.line[line];
                  for (int64_t c = 0; c < r.columns; ++c) {
                    const int64_t i = index[row * r.columns + c];
                    y[row * r.columns + c] = from[in_x.column[c] + (i < 0 ? i + n : i) * in_x.step];
                  }
                  if (++k == r.count) {
                    k = 0;
                    ++line;
                  }
                }
              });
}

// y[l, index[l, k, c], c] += source[l, k, c], in order of k whatever the number of threads.
template <class Acc, class T, class I>
void ScatterAddElements(const Region& r, const Places& in_y, const Places& in_source, int64_t n,
                        const I* index, const T* source, Acc* y) {
  if (r.count == 0) return;  // the tables of an empty region are not filled
  ParallelFor(r.lines * r.columns, std::max<int64_t>(64, 16384 / std::max<int64_t>(r.count, 1)),
              [&](int64_t begin, int64_t end) {
                for (int64_t at = begin; at < end;) {
                  const int64_t line = at / r.columns, first = at % r.columns;
                  const int64_t last = std::min(r.columns, first + (end - at));
                  Acc* to = y + in_y.line[line];
                  const T* from = source + in_source.line[line];
                  for (int64_t k = 0; k < r.count; ++k) {
                    const I* indices = index + (line * r.count + k) * r.columns;
                    for (int64_t c = first; c < last; ++c) {
                      const int64_t i = indices[c];
                      Acc& sum = to[in_y.column[c] + (i < 0 ? i + n : i) * in_y.step];
                      const T v = from[in_source.column[c] + k * in_source.step];
                      sum = static_cast<Acc>(sum + static_cast<Acc>(v));
                    }
                  }
                  at += last - first;
                }
              });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_INDEX_H_
