#ifndef FIRN_TENSOR_KERNELS_CPU_INDEX_H_
#define FIRN_TENSOR_KERNELS_CPU_INDEX_H_

// Loops of the operations that read or write at the places that an integer tensor gives. Indices
// have been checked by Apply; negative ones count from the end.

#include <algorithm>
#include <cstring>

#include "firn/device/macros.h"
#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/convert.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/for_each.h"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/index_rules.h"

namespace firn::cpu {

// out[i] = the offset of element i of a tensor with these sizes and strides, counted row-major.
// Requires: no size is 0.
void FillOffsets(const Dims& sizes, const Dims& strides, int64_t* out);

// The place that a checked index means.
template <class I>
int64_t Wrapped(I index, int64_t n) {
  const auto i = static_cast<int64_t>(index);
  return i < 0 ? i + n : i;
}

// Copies a row of elements, without a call if it is a few registers' worth.
template <class T>
void CopyRun(const T* from, int64_t n, T* to) {
  constexpr int64_t kPiece = 64 / static_cast<int64_t>(sizeof(T));
  if (n > 16 * kPiece) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  int64_t i = 0;
  for (; i + kPiece <= n; i += kPiece) std::memcpy(to + i, from + i, 64);
  for (; i < n; ++i) to[i] = from[i];
}

// Prefetches the cache lines of a run that will soon be read, or written.
template <bool kWrite, class T>
void Prefetch(const T* run, int64_t n) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T)), kMost = 8;
  for (int64_t i = 0; i < std::min(n, kMost * kLine); i += kLine) {
    __builtin_prefetch(run + i, kWrite ? 1 : 0);
  }
}
// How many runs ahead prefetching goes.
inline constexpr int64_t kRunsAhead = 8;

// y[b, o, k, :] = x[b, o, index[b, k], :], zeros where the index is p.ignored.
template <class T, class I>
void SelectRows(const IndexPlan& p, const T* x, const I* index, T* y) {
  const int64_t rows = p.batch * p.outer * p.count;
  ParallelFor(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(p.inner, 1)),
              [&](int64_t begin, int64_t end) {
                ForEachRowOf(begin, end, p.count, [&](int64_t line, int64_t first, int64_t last) {
                  const I* const indices = index + line / p.outer * p.count;
                  const T* const from = x + line * p.n * p.inner;
                  T* const to = y + line * p.count * p.inner;
                  if (p.inner == 1 && p.ignored == kNoIndex) {
                    for (int64_t k = first; k < last; ++k) to[k] = from[Wrapped(indices[k], p.n)];
                    return;
                  }
                  for (int64_t k = first; k < last; ++k) {
                    if (k + kRunsAhead < last && indices[k + kRunsAhead] != p.ignored) {
                      Prefetch<false>(from + Wrapped(indices[k + kRunsAhead], p.n) * p.inner,
                                      p.inner);
                    }
                    T* const run = to + k * p.inner;
                    if (indices[k] == p.ignored) {
                      std::fill(run, run + p.inner, T{0});
                    } else {
                      CopyRun(from + Wrapped(indices[k], p.n) * p.inner, p.inner, run);
                    }
                  }
                });
              });
}

// y[b, o, index[b, k], :] += alpha * source[b, o, k, :] except where the index is p.ignored, in
// order of k for any number of threads.
template <class Acc, class T, class I>
void AddRows(const IndexPlan& p, const I* index, Acc alpha, const T* source, Acc* y) {
  if (p.count == 0) return;
  const auto add = [alpha](Acc& sum, Acc v) { sum = static_cast<Acc>(sum + alpha * v); };
  // Elements [first, last) of all rows of a line.
  const auto part = [&](const I* indices, const T* from, Acc* to, int64_t first, int64_t last) {
    for (int64_t k = 0; k < p.count; ++k) {
      if (k + kRunsAhead < p.count && indices[k + kRunsAhead] != p.ignored) {
        Prefetch<true>(to + Wrapped(indices[k + kRunsAhead], p.n) * p.inner + first, last - first);
      }
      if (indices[k] == p.ignored) continue;
      Acc* const sums = to + Wrapped(indices[k], p.n) * p.inner + first;
      ForEachStripAs<Acc>(from + k * p.inner + first, last - first,
                          [&](const Acc* v, int64_t at, int64_t n) {
                            Acc* const sum = sums + at;
                            FIRN_INDEPENDENT_STEPS
                            for (int64_t c = 0; c < n; ++c) add(sum[c], v[c]);
                          });
    }
  };
  const auto single = [&](const I* indices, const T* from, Acc* to) {  // rows of one element
    ForEachStripAs<Acc>(from, p.count, [&](const Acc* v, int64_t at, int64_t n) {
      for (int64_t k = 0; k < n; ++k) {
        const I i = indices[at + k];
        if (i != p.ignored) add(to[Wrapped(i, p.n)], v[k]);
      }
    });
  };
  ParallelFor(p.batch * p.outer * p.inner, std::max<int64_t>(64, 16384 / p.count),
              [&](int64_t begin, int64_t end) {
                ForEachRowOf(begin, end, p.inner, [&](int64_t line, int64_t first, int64_t last) {
                  const I* const indices = index + line / p.outer * p.count;
                  const T* const from = source + line * p.count * p.inner;
                  Acc* const to = y + line * p.n * p.inner;
                  if (p.inner == 1) return single(indices, from, to);
                  part(indices, from, to, first, last);
                });
              });
}

// Calls f(at) with the start in y of each row to which AddRows adds, in order.
template <class I, class F>
void ForEachAddedRow(const IndexPlan& p, const I* index, const F& f) {
  for (int64_t line = 0; line < p.batch * p.outer; ++line) {
    const I* const indices = index + line / p.outer * p.count;
    for (int64_t k = 0; k < p.count; ++k) {
      if (indices[k] != p.ignored) f((line * p.n + Wrapped(indices[k], p.n)) * p.inner);
    }
  }
}

// --- Along one dimension, element by element ----------------------------------------------------

// A region of `lines` x `count` x `columns` elements, the dimensions before, at and after the
// indexed one: the part that gather and scatter_add walk. The other tensors may be larger, so
// tables give the place of each line and column of the region in them.
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
  int64_t step;       // along the indexed dimension
  bool side_by_side;  // the columns: column c lies at c
};

// Calls f(place), where place(c) is the column's place.
template <class F>
void VisitColumns(const Places& p, const F& f) {
  if (p.side_by_side) {
    f([](int64_t c) { return c; });
  } else {
    f([column = p.column](int64_t c) { return column[c]; });
  }
}

// y[l, k, c] = x[l, index[l, k, c], c]
template <class T, class I>
void GatherElements(const Region& r, const Places& in_x, int64_t n, const T* x, const I* index,
                    T* y) {
  if (r.lines * r.count * r.columns == 0) return;
  const int64_t step = in_x.step;
  const auto line_of_one_column = [&](int64_t line, int64_t first, int64_t last) {
    const T* const from = x + in_x.line[line] + in_x.column[0];
    const I* const indices = index + line * r.count;
    T* const to = y + line * r.count;
    for (int64_t k = first; k < last; ++k) to[k] = from[Wrapped(indices[k], n) * step];
  };
  const auto row = [&](int64_t line, int64_t k) {
    const T* const from = x + in_x.line[line];
    const I* const indices = index + (line * r.count + k) * r.columns;
    T* const to = y + (line * r.count + k) * r.columns;
    VisitColumns(in_x, [&](const auto& place) {
      for (int64_t c = 0; c < r.columns; ++c)
        to[c] = from[place(c) + Wrapped(indices[c], n) * step];
    });
  };
  ParallelFor(r.lines * r.count, std::max<int64_t>(1, 16384 / r.columns),
              [&](int64_t begin, int64_t end) {
                ForEachRowOf(begin, end, r.count, [&](int64_t line, int64_t first, int64_t last) {
                  if (r.columns == 1) return line_of_one_column(line, first, last);
                  for (int64_t k = first; k < last; ++k) row(line, k);
                });
              });
}

// y[l, index[l, k, c], c] += source[l, k, c], in order of k for any number of threads.
template <class Acc, class T, class I>
void ScatterAddElements(const Region& r, const Places& in_y, const Places& in_source, int64_t n,
                        const I* index, const T* source, Acc* y) {
  if (r.lines * r.count * r.columns == 0) return;  // the tables are not filled
  const int64_t step = in_y.step;
  const auto add = [](Acc& sum, Acc v) { sum = static_cast<Acc>(sum + v); };
  const auto line_of_one_column = [&](int64_t line) {
    const I* const indices = index + line * r.count;
    Acc* const to = y + in_y.line[line] + in_y.column[0];
    const T* const from = source + in_source.line[line] + in_source.column[0];
    if (in_source.step != 1) {
      for (int64_t k = 0; k < r.count; ++k) {
        add(to[Wrapped(indices[k], n) * step], static_cast<Acc>(from[k * in_source.step]));
      }
      return;
    }
    ForEachStripAs<Acc>(from, r.count, [&](const Acc* v, int64_t at, int64_t count) {
      for (int64_t k = 0; k < count; ++k) add(to[Wrapped(indices[at + k], n) * step], v[k]);
    });
  };
  const auto part_of_row = [&](int64_t line, int64_t k, int64_t first, int64_t last) {
    const I* const indices = index + (line * r.count + k) * r.columns;
    Acc* const to = y + in_y.line[line];
    const T* const from = source + in_source.line[line] + k * in_source.step;
    VisitColumns(in_y, [&](const auto& place) {
      if (!in_source.side_by_side) {
        for (int64_t c = first; c < last; ++c) {
          add(to[place(c) + Wrapped(indices[c], n) * step],
              static_cast<Acc>(from[in_source.column[c]]));
        }
        return;
      }
      ForEachStripAs<Acc>(from + first, last - first, [&](const Acc* v, int64_t at, int64_t count) {
        for (int64_t c = 0; c < count; ++c) {
          const int64_t column = first + at + c;
          add(to[place(column) + Wrapped(indices[column], n) * step], v[c]);
        }
      });
    });
  };
  ParallelFor(r.lines * r.columns, std::max<int64_t>(64, 16384 / r.count),
              [&](int64_t begin, int64_t end) {
                ForEachRowOf(begin, end, r.columns, [&](int64_t line, int64_t first, int64_t last) {
                  if (r.columns == 1) return line_of_one_column(line);
                  for (int64_t k = 0; k < r.count; ++k) part_of_row(line, k, first, last);
                });
              });
}

// The same for lines of a half type whose elements lie side by side, added up as floats one line at
// a time. `memory` has room for y as floats; each thread uses the place of its first line.
// Requires: one column, and steps of 1.
template <class T, class I>
void ScatterAddLines(const Region& r, const Places& in_y, const Places& in_source, int64_t n,
                     const I* index, const T* source, T* y, float* memory) {
  ParallelFor(r.lines, std::max<int64_t>(1, 16384 / std::max<int64_t>(r.count + n, 1)),
              [&](int64_t begin, int64_t end) {
                float* const sums = memory + in_y.line[begin] + in_y.column[0];
                for (int64_t line = begin; line < end; ++line) {
                  const I* const indices = index + line * r.count;
                  T* const to = y + in_y.line[line] + in_y.column[0];
                  ToFloats(to, n, sums);
                  ForEachStripAs<float>(source + in_source.line[line] + in_source.column[0],
                                        r.count, [&](const float* v, int64_t at, int64_t count) {
                                          for (int64_t k = 0; k < count; ++k) {
                                            sums[Wrapped(indices[at + k], n)] += v[k];
                                          }
                                        });
                  FromFloats(sums, n, to);
                }
              });
}

// Calls f(at) with the place of each element that ScatterAddElements adds to, in order.
template <class I, class F>
void ForEachAddedElement(const Region& r, const Places& in_y, int64_t n, const I* index,
                         const F& f) {
  for (int64_t line = 0; line < r.lines; ++line) {
    for (int64_t k = 0; k < r.count; ++k) {
      const I* const indices = index + (line * r.count + k) * r.columns;
      for (int64_t c = 0; c < r.columns; ++c) {
        f(in_y.line[line] + in_y.column[c] + Wrapped(indices[c], n) * in_y.step);
      }
    }
  }
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_INDEX_H_
