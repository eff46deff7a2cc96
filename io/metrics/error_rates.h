#ifndef FIRN_IO_METRICS_ERROR_RATES_H_
#define FIRN_IO_METRICS_ERROR_RATES_H_

// The share of predictions that are wrong, as the functions of the same names in
// tensor/ops/loss/error_rates.h find them: NNabla's top_n_error and binary_error over a data set.

#include <cstdint>
#include <optional>

#include "firn/tensor/tensor.h"

namespace firn::io {

struct TopNErrorOptions {
  int64_t n = 1;                             // at least 1
  std::optional<int64_t> ignore_label = {};  // places with this label do not count
};

// The share of samples that n or more other classes score at least as much as their label. Ties
// count against it, where TopKAccuracy takes the class of the smaller number first: without ties it
// is 1 - TopKAccuracy. Thread-compatible.
class TopNError {
 public:
  // Throws kInvalidArgument unless n >= 1.
  explicit TopNError(const TopNErrorOptions& options = {});
  // Labels: integers [N, ...], each a class. Predictions: scores [N, classes, ...] of a floating
  // type; with n classes or fewer none is wrong. Any device. Throws kInvalidArgument, and changes
  // nothing, for anything else and for a NaN score.
  void Update(const Tensor& predictions, const Tensor& labels);
  // 0 to 1; NaN before anything counted.
  double Value() const;
  int64_t count() const { return count_; }
  void Reset() { wrong_ = count_ = 0; }
  // Adds what `other` saw, as if it had come here. Throws kInvalidArgument for another n.
  void Merge(const TopNError& other);
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    v(wrong_), v(count_);
  }

 private:
  TopNErrorOptions options_;
  int64_t wrong_ = 0, count_ = 0;
};

// The share of numbers for which either the prediction or the target is at least 0.5, but not both.
// Thread-compatible.
class BinaryError {
 public:
  // Predictions: probabilities of any shape and a floating type. Targets: of the same shape and any
  // type. Any device. Throws kInvalidArgument, and changes nothing, for other shapes and types and
  // for a NaN among either.
  void Update(const Tensor& predictions, const Tensor& targets);
  // 0 to 1; NaN before anything counted.
  double Value() const;
  int64_t count() const { return count_; }
  void Reset() { *this = BinaryError(); }
  // Adds what `other` saw, as if it had come here.
  void Merge(const BinaryError& other);
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    v(wrong_), v(count_);
  }

 private:
  int64_t wrong_ = 0, count_ = 0;  // numbers
};

}  // namespace firn::io

#endif  // FIRN_IO_METRICS_ERROR_RATES_H_
