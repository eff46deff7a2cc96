// Both lists are sorted; for each positive score, the negative ones below it count one and those
// equal to it one half. Counting in halves keeps the sum an exact integer.
#include "firn/io/metrics/auc.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "Auc";

void RequireShapes(const Tensor& scores, const Tensor& labels) {
  const bool one_a_sample = scores.rank() == 1 || (scores.rank() == 2 && scores.size(1) == 1);
  if (!one_a_sample || !IsFloating(scores.dtype())) {
    RaiseStatus(InvalidArgument("predictions are ", scores.shape().ToString(), " ",
                                DTypeName(scores.dtype()), " (want scores [N] or [N, 1])"),
                kWho);
  }
  if (labels.num_elements() != scores.num_elements()) {
    RaiseStatus(
        InvalidArgument("labels are ", labels.shape().ToString(), " ", DTypeName(labels.dtype()),
                        " (want ", scores.num_elements(), " of them)"),
        kWho);
  }
}

}  // namespace

void Auc::Update(const Tensor& predictions, const Tensor& labels) {
  RequireShapes(predictions, labels);
  const std::vector<double> scores = predictions.ToVector<double>();
  const std::vector<double> truth = labels.ToVector<double>();
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i]))
      RaiseStatus(
          InvalidArgument("score ", i, " is NaN: the network has diverged, or its inputs hold NaN"),
          kWho);
    if (truth[i] != 0 && truth[i] != 1) {
      RaiseStatus(InvalidArgument("a label is ", truth[i], " (want 0 or 1)"), kWho);
    }
  }
  for (size_t i = 0; i < scores.size(); ++i) {
    (truth[i] == 1 ? positives_ : negatives_).push_back(scores[i]);
  }
}

double Auc::Value() const {
  if (positives_.empty() || negatives_.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> positives = positives_, negatives = negatives_;
  std::sort(positives.begin(), positives.end());
  std::sort(negatives.begin(), negatives.end());
  uint64_t halves = 0;
  auto below = negatives.begin(), not_above = negatives.begin();
  for (double score : positives) {
    while (below != negatives.end() && *below < score) ++below;
    while (not_above != negatives.end() && *not_above <= score) ++not_above;
    halves += static_cast<uint64_t>(below - negatives.begin()) +
              static_cast<uint64_t>(not_above - negatives.begin());
  }
  return static_cast<double>(halves) / 2 / static_cast<double>(positives.size()) /
         static_cast<double>(negatives.size());
}

void Auc::Reset() {
  positives_.clear();
  negatives_.clear();
}

void Auc::RequireNumber(double score) {
  if (!std::isnan(score)) return;
  RaiseStatus(InvalidArgument("a score of another rank is NaN"), kWho);
}

void Auc::Merge(const Auc& other) {
  const Auc copy = other;  // `other` may be this object
  positives_.insert(positives_.end(), copy.positives_.begin(), copy.positives_.end());
  negatives_.insert(negatives_.end(), copy.negatives_.begin(), copy.negatives_.end());
}

}  // namespace firn::io
