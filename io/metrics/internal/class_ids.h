#ifndef FIRN_IO_METRICS_INTERNAL_CLASS_IDS_H_
#define FIRN_IO_METRICS_INTERNAL_CLASS_IDS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// The predicted and the true class of each place that counts.
struct ClassIds {
  std::vector<int64_t> predictions, labels;
};

// Labels are integers of any shape [N, ...]. Predictions are either integers of the same shape, or
// scores [N, classes, ...] of a floating type, of which the largest wins (the first of several).
// Places whose label is `ignore` are left out. Throws kInvalidArgument, naming `who`, for other
// shapes and types, for a NaN among the scores and for a label that is none of the scores' classes.
ClassIds ClassIdsOf(const Tensor& predictions, const Tensor& labels, std::optional<int64_t> ignore,
                    std::string_view who);

// Throws kInvalidArgument unless labels are integers and predictions are scores
// [N, classes, ...] for them.
void RequireScores(const Tensor& predictions, const Tensor& labels, std::string_view who);

// Throws kInvalidArgument unless 0 <= id < classes; `what` is "label" or "prediction".
void RequireClass(int64_t id, int64_t classes, const char* what, std::string_view who);

}  // namespace firn::io::internal

#endif  // FIRN_IO_METRICS_INTERNAL_CLASS_IDS_H_
