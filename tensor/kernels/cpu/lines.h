#ifndef FIRN_TENSOR_KERNELS_CPU_LINES_H_
#define FIRN_TENSOR_KERNELS_CPU_LINES_H_

#include <algorithm>
#include <cstdint>

#include "firn/device/own_flags.h"
#include "firn/device/parallel.h"
#include "firn/tensor/kernels/lines.h"

namespace firn::cpu {

// Lines next to each other: element i of line c lies at offset + i * stride + c. `first` is the
// number of line 0, counting blocks by blocks.
struct Strip {
  int64_t first, offset, length, stride, width;

  // A single line without gaps.
  bool line() const { return stride == 1 && width == 1; }
};
// The most lines in a strip.
inline constexpr int64_t kStripWidth = 256;

// Calls f(strip) for strips of up to `width` lines that make up all lines, in parallel; along the
// last dimension each line is a strip of its own.
template <class F>
void ForEachStrip(const Lines& l, const F& f, int64_t width = kStripWidth) {
  const int64_t strips = l.inner == 0 ? 0 : (l.inner - 1) / width + 1;
  const int64_t work = l.length * std::min(l.inner, width);
  ParallelFor(l.outer * strips, std::max<int64_t>(1, 8192 / std::max<int64_t>(work, 1)),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const int64_t block = i / strips, at = i % strips * width;
                  f(Strip{block * l.inner + at, block * l.length * l.inner + at, l.length, l.inner,
                          std::min(width, l.inner - at)});
                }
              });
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_LINES_H_
