// The rank of a label's score is the number of scores that come before it, so no sorting is needed.
#include "firn/io/metrics/accuracy.h"

#include <cmath>
#include <limits>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/metrics/internal/class_ids.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

constexpr char kTopK[] = "TopKAccuracy";

double Share(int64_t right, int64_t count) {
  return count == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(right) / static_cast<double>(count);
}

// Scores of one sample, `stride` apart.
bool IsAmongFirst(const double* scores, int64_t classes, int64_t stride, int64_t label, int64_t k) {
  const double own = scores[label * stride];
  int64_t before = 0;
  for (int64_t c = 0; c < classes && before < k; ++c) {
    const double score = scores[c * stride];
    before += score > own || (score == own && c < label) ? 1 : 0;
  }
  return before < k;
}

}  // namespace

void Accuracy::Update(const Tensor& predictions, const Tensor& labels) {
  const internal::ClassIds ids =
      internal::ClassIdsOf(predictions, labels, options_.ignore_label, "Accuracy");
  for (size_t i = 0; i < ids.labels.size(); ++i) right_ += ids.labels[i] == ids.predictions[i];
  count_ += static_cast<int64_t>(ids.labels.size());
}

double Accuracy::Value() const { return Share(right_, count_); }

void Accuracy::Merge(const Accuracy& other) {
  right_ += other.right_;
  count_ += other.count_;
}

TopKAccuracy::TopKAccuracy(const TopKAccuracyOptions& options) : options_(options) {
  if (options.k < 1) RaiseStatus(InvalidArgument("k is ", options.k, " (want >= 1)"), kTopK);
}

void TopKAccuracy::Update(const Tensor& predictions, const Tensor& labels) {
  internal::RequireScores(predictions, labels, kTopK);
  const int64_t classes = predictions.size(1);
  if (classes < options_.k) {
    RaiseStatus(InvalidArgument("k is ", options_.k, " but there are ", classes, " classes"),
                kTopK);
  }
  const std::vector<double> scores = predictions.ToVector<double>();
  for (double score : scores) {
    if (std::isnan(score))
      RaiseStatus(
          InvalidArgument("a score is NaN: the network has diverged, or its inputs hold NaN"),
          kTopK);
  }
  const std::vector<int64_t> truth = labels.ToVector<int64_t>();
  // Places of one sample: the product of the dimensions behind the classes.
  const int64_t samples = labels.size(0);
  const int64_t places = samples == 0 ? 0 : labels.num_elements() / samples;
  int64_t right = 0, count = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(truth.size()); ++i) {
    const int64_t label = truth[static_cast<size_t>(i)];
    if (label == options_.ignore_label) continue;
    internal::RequireClass(label, classes, "label", kTopK);
    const double* sample = scores.data() + i / places * classes * places + i % places;
    right += IsAmongFirst(sample, classes, places, label, options_.k) ? 1 : 0;
    ++count;
  }
  right_ += right;
  count_ += count;
}

double TopKAccuracy::Value() const { return Share(right_, count_); }

void TopKAccuracy::Merge(const TopKAccuracy& other) {
  if (other.options_.k != options_.k) {
    RaiseStatus(
        InvalidArgument("cannot merge counts of k = ", other.options_.k, " into k = ", options_.k),
        kTopK);
  }
  right_ += other.right_;
  count_ += other.count_;
}

}  // namespace firn::io
