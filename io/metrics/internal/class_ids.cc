// Scores become class numbers on their own device, so that only those are copied to the host.
#include "firn/io/metrics/internal/class_ids.h"

#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/format.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

std::string Described(const Tensor& t) { return t.shape().ToString() + " " + DTypeName(t.dtype()); }

// [N, classes, ...] for labels [N, ...].
bool AreScores(const Tensor& predictions, const Tensor& labels) {
  if (!IsFloating(predictions.dtype()) || predictions.rank() != labels.rank() + 1) return false;
  if (labels.rank() == 0 || predictions.size(1) == 0) return false;
  for (int dim = 0; dim < labels.rank(); ++dim) {
    if (predictions.size(dim == 0 ? 0 : dim + 1) != labels.size(dim)) return false;
  }
  return true;
}

void RequireLabels(const Tensor& labels, std::string_view who) {
  if (IsIntegral(labels.dtype()) || labels.dtype() == DType::kBool) return;
  RaiseStatus(InvalidArgument("labels are ", Described(labels), " (want integers)"), who);
}

}  // namespace

void RequireScores(const Tensor& predictions, const Tensor& labels, std::string_view who) {
  RequireLabels(labels, who);
  if (AreScores(predictions, labels)) return;
  RaiseStatus(
      InvalidArgument("predictions are ", Described(predictions), " and labels ", Described(labels),
                      " (want scores [N, classes, ...] of labels"
                      " [N, ...])"),
      who);
}

void RequireClass(int64_t id, int64_t classes, const char* what, std::string_view who) {
  if (id >= 0 && id < classes) return;
  RaiseStatus(InvalidArgument("a ", what, " is ", id, " (want 0 to ", classes - 1, ")"), who);
}

ClassIds ClassIdsOf(const Tensor& predictions, const Tensor& labels, std::optional<int64_t> ignore,
                    std::string_view who) {
  RequireLabels(labels, who);
  const NoGradScope no_grad;
  ClassIds ids;
  int64_t classes = 0;  // 0: not known
  if (!IsFloating(predictions.dtype()) && predictions.shape() == labels.shape()) {
    ids.predictions = predictions.ToVector<int64_t>();
  } else {
    RequireScores(predictions, labels, who);
    if (predictions.num_elements() > 0) {
      if (Any(Isnan(predictions)).Item<bool>()) {
        RaiseStatus(
            InvalidArgument("a score is NaN: the network has diverged, or its inputs hold NaN"),
            who);
      }
      ids.predictions = Argmax(predictions, 1).ToVector<int64_t>();
    }
    classes = predictions.size(1);
  }
  ids.labels = labels.ToVector<int64_t>();
  for (size_t i = 0; classes > 0 && i < ids.labels.size(); ++i) {
    if (ids.labels[i] != ignore) RequireClass(ids.labels[i], classes, "label", who);
  }
  if (!ignore.has_value()) return ids;
  size_t kept = 0;
  for (size_t i = 0; i < ids.labels.size(); ++i) {
    if (ids.labels[i] == *ignore) continue;
    ids.labels[kept] = ids.labels[i];
    ids.predictions[kept++] = ids.predictions[i];
  }
  ids.labels.resize(kept);
  ids.predictions.resize(kept);
  return ids;
}

}  // namespace firn::io::internal
