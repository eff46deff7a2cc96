#ifndef FIRN_IO_METRICS_REGRESSION_H_
#define FIRN_IO_METRICS_REGRESSION_H_

// The distances of predicted numbers from true ones, over all samples, regardless of their batches.
// Sums are f64.

#include <cstdint>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::io {

// The coefficient of determination, 1 - (sum of squared errors) / (sum of squared distances of the
// targets from their mean): 1 is perfect, and always predicting the mean gives 0. For samples with
// several numbers it is the mean over these. Where the targets are all the same it is 1 for perfect
// predictions and else 0 (scikit-learn's r2_score, whose defaults these are). Thread-compatible.
class R2 {
 public:
  // Predictions and targets: [N] or [N, ...], of one shape, floating or integers; the same sizes
  // behind the first in every call. Any device. Throws kInvalidArgument, and changes nothing, for
  // other shapes.
  void Update(const Tensor& predictions, const Tensor& targets);
  // NaN before there are two samples.
  double Value() const;
  int64_t count() const { return count_; }
  void Reset() { *this = R2(); }
  // Adds what `other` saw, as if it had come here. Throws kInvalidArgument for other sizes.
  void Merge(const R2& other);
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    v(count_);
    v.List(outputs_, [](V& each, Output& o) { each(o.errors), each(o.mean), each(o.distances); });
  }

 private:
  struct Output {
    double errors = 0;               // sum of squares
    double mean = 0, distances = 0;  // of the targets; sum of squares from the mean
  };
  std::vector<Output> outputs_;
  int64_t count_ = 0;
};

struct MeanSquaredErrorOptions {
  bool root = false;  // the root of the mean (RMSE)
};

// The mean of the squares of all differences. Thread-compatible.
class MeanSquaredError {
 public:
  explicit MeanSquaredError(const MeanSquaredErrorOptions& options = {}) : options_(options) {}
  // Predictions and targets of one shape, floating or integers. Any device. Throws
  // kInvalidArgument, and changes nothing, for other shapes.
  void Update(const Tensor& predictions, const Tensor& targets);
  // NaN before anything counted.
  double Value() const;
  int64_t count() const { return count_; }
  void Reset() { sum_ = 0, count_ = 0; }
  // Adds what `other` saw, as if it had come here.
  void Merge(const MeanSquaredError& other);
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    v(sum_), v(count_);
  }

 private:
  MeanSquaredErrorOptions options_;
  double sum_ = 0;
  int64_t count_ = 0;  // numbers
};

// The mean of all differences without their signs. Thread-compatible.
class MeanAbsoluteError {
 public:
  // Like MeanSquaredError::Update.
  void Update(const Tensor& predictions, const Tensor& targets);
  // NaN before anything counted.
  double Value() const;
  int64_t count() const { return count_; }
  void Reset() { *this = MeanAbsoluteError(); }
  // Adds what `other` saw, as if it had come here.
  void Merge(const MeanAbsoluteError& other);
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    v(sum_), v(count_);
  }

 private:
  double sum_ = 0;
  int64_t count_ = 0;  // numbers
};

}  // namespace firn::io

#endif  // FIRN_IO_METRICS_REGRESSION_H_
