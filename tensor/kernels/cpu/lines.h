#ifndef FIRN_TENSOR_KERNELS_CPU_LINES_H_
#define FIRN_TENSOR_KERNELS_CPU_LINES_H_

#include <algorithm>
#include <cstdint>

#include "device/own_flags.h"
#include "device/parallel.h"
#include "tensor/shape.h"

namespace firn::cpu {

// A row-major tensor as lines along one dimension: `outer` blocks of `length` x `inner` elements,
// whose columns are the lines.
struct Lines {
  int64_t outer = 1, length = 1, inner = 1;
};
// Requires: NormalizeDim accepts `dim`. A scalar is one line of length 1.
inline Lines LinesAlong(const Shape& shape, int64_t dim) {
  Lines l;
  if (shape.rank() == 0) return l;
  const int64_t at = dim < 0 ? dim + shape.rank() : dim;
  for (int d = 0; d < shape.rank(); ++d)
    (d < at ? l.outer : d > at ? l.inner : l.length) *= shape[d];
  return l;
}

// Lines next to each other: element i of line c lies at offset + i * stride + c. `first` is the
// number of line 0, counting blocks by blocks.
struct Strip {
  int64_t first, offset, length, stride, width;

  // A single line without gaps.
  bool line() const { return stride == 1 && width == 1; }
};
// The most lines in a strip.
inline constexpr int64_t kStripWidth = 256;

// Calls f(strip) for strips that make up all lines, in parallel; along the last dimension each line
// is a strip of its own.
template <class F>
void ForEachStrip(const Lines& l, const F& f) {
  const int64_t strips = l.inner == 0 ? 0 : (l.inner - 1) / kStripWidth + 1;
  const int64_t work = l.length * std::min(l.inner, kStripWidth);
  ParallelFor(l.outer * strips, std::max<int64_t>(1, 8192 / std::max<int64_t>(work, 1)),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const int64_t block = i / strips, at = i % strips * kStripWidth;
                  f(Strip{block * l.inner + at, block * l.length * l.inner + at, l.length, l.inner,
                          std::min(kStripWidth, l.inner - at)});
                }
              });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_LINES_H_
