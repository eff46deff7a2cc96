// Sums of losses are divided where they are summed: by kernels, or by operations.

#include "firn/tensor/problems/reduction_mode.h"

#include "firn/tensor/shape.h"

namespace firn {

double inner::LossDivisor(const Shape& elements, Reduction reduction) {
  if (reduction == Reduction::kMean) return static_cast<double>(elements.num_elements());
  if (reduction == Reduction::kBatchMean) {
    return static_cast<double>(elements.rank() == 0 ? 1 : elements[0]);
  }
  return 1;
}

}  // namespace firn
