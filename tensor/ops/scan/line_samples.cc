// Lines along a dimension of a row-major tensor.

#include "firn/tensor/ops/scan/line_samples.h"

namespace firn::testing {

void ForEachLine(const Shape& shape, int64_t dim,
                 const std::function<void(int64_t length, int64_t first, int64_t step)>& f) {
  if (shape.rank() == 0) return f(1, 0, 1);
  const int d = static_cast<int>(dim < 0 ? dim + shape.rank() : dim);
  int64_t step = 1;
  for (int i = d + 1; i < shape.rank(); ++i) step *= shape[i];
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    if (i / step % shape[d] == 0) f(shape[d], i, step);
  }
}

}  // namespace firn::testing
