// Sums of losses are divided where they are summed: by kernels, or by operations.

#include "firn/tensor/problems/reduction_mode.h"

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/shape.h"

namespace firn {

absl::Status inner::CheckReduction(Reduction reduction) {
  FIRN_RETURN_IF(
      reduction != Reduction::kNone && reduction != Reduction::kMean &&
          reduction != Reduction::kSum,
      InvalidArgument("reduction must be none, mean or sum, got ", static_cast<int>(reduction)));
  return absl::OkStatus();
}

void inner::CheckLossReduction(Reduction reduction, const char* where) {
  RaiseIfError(CheckReduction(reduction), where);
}

double inner::LossDivisor(const Shape& elements, Reduction reduction) {
  if (reduction == Reduction::kMean) return static_cast<double>(elements.num_elements());
  if (reduction == Reduction::kBatchMean) {
    return static_cast<double>(elements.rank() == 0 ? 1 : elements[0]);
  }
  return 1;
}

}  // namespace firn
