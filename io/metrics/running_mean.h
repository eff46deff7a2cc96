#ifndef FIRN_IO_METRICS_RUNNING_MEAN_H_
#define FIRN_IO_METRICS_RUNNING_MEAN_H_

#include "firn/tensor/tensor.h"

namespace firn::io {

// The mean of numbers that come one after the other, such as the losses of an epoch's batches.
// Sums are f64. Thread-compatible.
class RunningMean {
 public:
  // One number that counts as `weight` numbers; for a batch's mean loss, the number of its samples.
  // Throws kInvalidArgument unless the weight is finite and >= 0.
  void Update(double value, double weight = 1);
  // All elements of a tensor of any shape, type and device, equally. A loss is Update(loss).
  void Update(const Tensor& values);
  // NaN before the first Update.
  double Value() const;
  // The sum of the weights so far.
  double weight() const { return weight_; }
  void Reset() { *this = RunningMean(); }
  // Adds what `other` saw, as if it had come here.
  void Merge(const RunningMean& other);
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    v(sum_), v(weight_);
  }

 private:
  double sum_ = 0, weight_ = 0;
};

}  // namespace firn::io

#endif  // FIRN_IO_METRICS_RUNNING_MEAN_H_
