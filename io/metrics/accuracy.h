#ifndef FIRN_IO_METRICS_ACCURACY_H_
#define FIRN_IO_METRICS_ACCURACY_H_

#include <cstdint>
#include <optional>

#include "firn/tensor/tensor.h"

namespace firn::io {

struct AccuracyOptions {
  std::optional<int64_t> ignore_label = {};  // places with this label do not count
};

// The share of predictions that are right. Thread-compatible.
class Accuracy {
 public:
  explicit Accuracy(const AccuracyOptions& options = {}) : options_(options) {}
  // Labels: integers [N, ...]. Predictions: scores [N, classes, ...] of a floating type, of which
  // the largest wins (the first of several), or integers like the labels. Any device. Throws
  // kInvalidArgument, and changes nothing, for other shapes and types, a NaN score and a label that
  // is none of the classes that have scores.
  void Update(const Tensor& predictions, const Tensor& labels);
  // 0 to 1; NaN before anything counted.
  double Value() const;
  int64_t count() const { return count_; }
  void Reset() { right_ = count_ = 0; }
  // Adds what `other` saw, as if it had come here.
  void Merge(const Accuracy& other);
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    v(right_), v(count_);
  }

 private:
  AccuracyOptions options_;
  int64_t right_ = 0, count_ = 0;
};

struct TopKAccuracyOptions {
  int64_t k = 5;
  std::optional<int64_t> ignore_label = {};
};

// The share of samples whose label is among the k largest scores. Among equal scores those of
// smaller class numbers come first, so that k = 1 is Accuracy. Thread-compatible.
class TopKAccuracy {
 public:
  // Throws kInvalidArgument unless k >= 1.
  explicit TopKAccuracy(const TopKAccuracyOptions& options = {});
  // Labels: integers [N, ...], each a class. Predictions: scores [N, classes, ...], at least k
  // classes. Any device. Throws kInvalidArgument, and changes nothing, for anything else and for a
  // NaN score.
  void Update(const Tensor& predictions, const Tensor& labels);
  // 0 to 1; NaN before anything counted.
  double Value() const;
  int64_t count() const { return count_; }
  void Reset() { right_ = count_ = 0; }
  // Adds what `other` saw, as if it had come here. Throws kInvalidArgument for another k.
  void Merge(const TopKAccuracy& other);
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    v(right_), v(count_);
  }

 private:
  TopKAccuracyOptions options_;
  int64_t right_ = 0, count_ = 0;
};

}  // namespace firn::io

#endif  // FIRN_IO_METRICS_ACCURACY_H_
