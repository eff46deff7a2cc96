// Everything is made of three counts for each class: right predictions of it, all predictions of
// it, and labels of it.
#include "firn/io/metrics/confusion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/io/metrics/internal/class_ids.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "ConfusionMatrix";
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMaxClasses = 46340;

struct Counts {
  int64_t right = 0, predicted = 0, labelled = 0;
  bool occurs() const { return predicted + labelled > 0; }
};

std::vector<Counts> CountsOf(const ConfusionMatrix& matrix) {
  std::vector<Counts> counts(static_cast<size_t>(matrix.classes()));
  for (int64_t label = 0; label < matrix.classes(); ++label) {
    for (int64_t prediction = 0; prediction < matrix.classes(); ++prediction) {
      const int64_t n = matrix.at(label, prediction);
      counts[static_cast<size_t>(label)].labelled += n;
      counts[static_cast<size_t>(prediction)].predicted += n;
      if (label == prediction) counts[static_cast<size_t>(label)].right += n;
    }
  }
  return counts;
}

double Ratio(int64_t a, int64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

// F1 = 2 * right / (predicted + labelled), which is 2 p r / (p + r) where that has a value.
PrecisionRecallF1 ScoresOf(const Counts& c) {
  return {Ratio(c.right, c.predicted), Ratio(c.right, c.labelled),
          Ratio(2 * c.right, c.predicted + c.labelled)};
}

}  // namespace

ConfusionMatrix::ConfusionMatrix(const ConfusionMatrixOptions& options) : options_(options) {
  if (options.classes < 1 || options.classes > kMaxClasses) {
    RaiseStatus(
        InvalidArgument("there are ", options.classes, " classes (want 1 to ", kMaxClasses, ")"),
        kWho);
  }
  Reset();
}

void ConfusionMatrix::Update(const Tensor& predictions, const Tensor& labels) {
  const internal::ClassIds ids =
      internal::ClassIdsOf(predictions, labels, options_.ignore_label, kWho);
  for (size_t i = 0; i < ids.labels.size(); ++i) {
    internal::RequireClass(ids.labels[i], classes(), "label", kWho);
    internal::RequireClass(ids.predictions[i], classes(), "prediction", kWho);
  }
  for (size_t i = 0; i < ids.labels.size(); ++i) {
    ++counts_[static_cast<size_t>(ids.labels[i] * classes() + ids.predictions[i])];
  }
}

Tensor ConfusionMatrix::Value() const { return FromVector(counts_, {classes(), classes()}); }

void ConfusionMatrix::Reset() {
  counts_.assign(static_cast<size_t>(options_.classes * options_.classes), 0);
}

void ConfusionMatrix::Merge(const ConfusionMatrix& other) {
  if (other.classes() != classes()) {
    RaiseStatus(
        InvalidArgument("cannot merge counts of ", other.classes(), " classes into ", classes()),
        kWho);
  }
  std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(),
                 [](int64_t a, int64_t b) { return a + b; });
}

PrecisionRecall::PrecisionRecall(const PrecisionRecallOptions& options)
    : average_(options.average),
      matrix_({.classes = options.classes, .ignore_label = options.ignore_label}) {}

PrecisionRecallF1 PrecisionRecall::Value() const {
  Counts all;
  PrecisionRecallF1 sum;
  double classes = 0;
  for (const Counts& counts : CountsOf(matrix_)) {
    all.right += counts.right;
    all.predicted += counts.predicted;
    all.labelled += counts.labelled;
    if (!counts.occurs()) continue;
    const PrecisionRecallF1 scores = ScoresOf(counts);
    sum.precision += scores.precision;
    sum.recall += scores.recall;
    sum.f1 += scores.f1;
    ++classes;
  }
  if (!all.occurs()) return {kNan, kNan, kNan};
  if (average_ == Average::kMicro) return ScoresOf(all);
  return {sum.precision / classes, sum.recall / classes, sum.f1 / classes};
}

std::vector<PrecisionRecallF1> PrecisionRecall::PerClass() const {
  std::vector<PrecisionRecallF1> scores;
  for (const Counts& counts : CountsOf(matrix_)) scores.push_back(ScoresOf(counts));
  return scores;
}

MeanIou::MeanIou(const MeanIouOptions& options)
    : matrix_({.classes = options.classes, .ignore_label = options.ignore_label}) {}

std::vector<double> MeanIou::PerClass() const {
  std::vector<double> values;
  for (const Counts& c : CountsOf(matrix_)) {
    values.push_back(c.occurs() ? Ratio(c.right, c.predicted + c.labelled - c.right) : kNan);
  }
  return values;
}

double MeanIou::Value() const {
  double sum = 0, classes = 0;
  for (double value : PerClass()) {
    if (std::isnan(value)) continue;
    sum += value;
    ++classes;
  }
  return classes == 0 ? kNan : sum / classes;
}

}  // namespace firn::io
