#ifndef FIRN_IO_METRICS_CONFUSION_H_
#define FIRN_IO_METRICS_CONFUSION_H_

// Metrics from counts of pairs of true and predicted class: the confusion matrix, and precision,
// recall, F1 and intersection over union, which are computed from it.

#include <cstdint>
#include <optional>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::io {

struct ConfusionMatrixOptions {
  int64_t classes = 0;                       // at least 1
  std::optional<int64_t> ignore_label = {};  // places with this label do not count
};

// How often each class was predicted for each true class. Thread-compatible.
class ConfusionMatrix {
 public:
  // Throws kInvalidArgument unless there is a class, and at most 46340 (a matrix of 16 GiB).
  explicit ConfusionMatrix(const ConfusionMatrixOptions& options);
  // Labels: integers [N, ...], each a class. Predictions: scores [N, classes, ...] of a floating
  // type, of which the largest wins (the first of several), or classes like the labels. Any device.
  // Throws kInvalidArgument, and changes nothing, for other shapes and types, a class that there is
  // not, and a NaN score.
  void Update(const Tensor& predictions, const Tensor& labels);
  // i64 [classes, classes] on the CPU; rows are labels, columns predictions.
  Tensor Value() const;
  int64_t at(int64_t label, int64_t prediction) const {
    return counts_[static_cast<size_t>(label * options_.classes + prediction)];
  }
  int64_t classes() const { return options_.classes; }
  void Reset();
  // Adds what `other` saw, as if it had come here. Throws kInvalidArgument for another number of
  // classes.
  void Merge(const ConfusionMatrix& other);
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    for (int64_t& count : counts_) v(count);
  }

 private:
  ConfusionMatrixOptions options_;
  std::vector<int64_t> counts_;
};

enum class Average {
  kMicro,  // of all decisions together, with equal weights
  kMacro,  // the mean of the classes' values, over the classes that occur among labels or
           // predictions
};

struct PrecisionRecallOptions {
  int64_t classes = 0;  // at least 1
  Average average = Average::kMacro;
  std::optional<int64_t> ignore_label = {};
};

// Precision: the share of a class's predictions that are right. Recall: the share of a class's
// samples that were predicted as it. F1: their harmonic mean. 0 / 0 is 0, as scikit-learn has it
// (zero_division=0). The mean F1 is that of the classes' F1, not of the mean precision and recall.
struct PrecisionRecallF1 {
  double precision = 0, recall = 0, f1 = 0;
};

// Precision, recall and F1 of a classifier. Thread-compatible.
class PrecisionRecall {
 public:
  // Throws as ConfusionMatrix.
  explicit PrecisionRecall(const PrecisionRecallOptions& options);
  // Like ConfusionMatrix::Update.
  void Update(const Tensor& predictions, const Tensor& labels) {
    matrix_.Update(predictions, labels);
  }
  // The average; NaN before anything counted.
  PrecisionRecallF1 Value() const;
  // For each class.
  std::vector<PrecisionRecallF1> PerClass() const;
  void Reset() { matrix_.Reset(); }
  // Like ConfusionMatrix::Merge.
  void Merge(const PrecisionRecall& other) { matrix_.Merge(other.matrix_); }
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    matrix_.VisitNumbers(v);
  }

 private:
  Average average_;
  ConfusionMatrix matrix_;
};

struct MeanIouOptions {
  int64_t classes = 0;                       // at least 1
  std::optional<int64_t> ignore_label = {};  // 255 in many segmentation data sets
};

// Mean intersection over union. For a class: the number of places where label and prediction are
// both this class, divided by the number where either is; then the mean over the classes that
// occur. Thread-compatible.
class MeanIou {
 public:
  // Throws as ConfusionMatrix.
  explicit MeanIou(const MeanIouOptions& options);
  // Like ConfusionMatrix::Update: masks [N, H, W], and scores [N, classes, H, W] or masks for them.
  void Update(const Tensor& predictions, const Tensor& labels) {
    matrix_.Update(predictions, labels);
  }
  // 0 to 1; NaN before anything counted.
  double Value() const;
  // For each class; NaN for one that did not occur.
  std::vector<double> PerClass() const;
  void Reset() { matrix_.Reset(); }
  // Like ConfusionMatrix::Merge.
  void Merge(const MeanIou& other) { matrix_.Merge(other.matrix_); }
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    matrix_.VisitNumbers(v);
  }

 private:
  ConfusionMatrix matrix_;
};

}  // namespace firn::io

#endif  // FIRN_IO_METRICS_CONFUSION_H_
