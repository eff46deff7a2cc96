#include "firn/io/metrics/running_mean.h"

#include <cmath>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::io {

void RunningMean::Update(double value, double weight) {
  if (!(weight >= 0 && std::isfinite(weight))) {
    RaiseStatus(InvalidArgument("a weight is ", weight, " (want a finite one >= 0)"),
                "RunningMean");
  }
  if (weight == 0) return;  // a NaN that counts for nothing must not spoil the sum
  sum_ += value * weight;
  weight_ += weight;
}

void RunningMean::Update(const Tensor& values) {
  for (double value : values.ToVector<double>()) Update(value, 1);
}

double RunningMean::Value() const {
  return weight_ == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_ / weight_;
}

void RunningMean::Merge(const RunningMean& other) {
  sum_ += other.sum_;
  weight_ += other.weight_;
}

}  // namespace firn::io
