#ifndef FIRN_TENSOR_KERNELS_LINES_H_
#define FIRN_TENSOR_KERNELS_LINES_H_

#include <cstdint>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/shape.h"

namespace firn {

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

// Element i of a line lies at offset(line) + i * stride.
struct LineShape {
  int64_t length, stride;

  explicit LineShape(const Lines& l) : length(l.length), stride(l.inner) {}
  FIRN_HOST_DEVICE int64_t offset(int64_t line) const {
    if (stride == 1) return line * length;
    const int64_t column = TakeDigit(line, stride);
    return line * length * stride + column;
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_LINES_H_
