// The squared distances from the mean are kept as those of the samples so far from their own mean,
// and two such sums are joined by Chan, Golub and LeVeque's formula (1979): a difference of two
// large sums would lose every digit where the targets are far from 0.
#include "firn/io/metrics/regression.h"

#include <cmath>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void RequireOneShape(const Tensor& predictions, const Tensor& targets, const char* who) {
  if (predictions.shape() == targets.shape() && predictions.rank() > 0) return;
  RaiseStatus(InvalidArgument("predictions are ", predictions.shape().ToString(), " and targets ",
                              targets.shape().ToString(), " (want one shape, [N] or [N, ...])"),
              who);
}

// Calls f(prediction - target) for each number.
template <class F>
void ForEachError(const Tensor& predictions, const Tensor& targets, F f) {
  const std::vector<double> p = predictions.ToVector<double>(), t = targets.ToVector<double>();
  for (size_t i = 0; i < p.size(); ++i) f(p[i] - t[i]);
}

}  // namespace

void R2::Update(const Tensor& predictions, const Tensor& targets) {
  RequireOneShape(predictions, targets, "R2");
  const int64_t samples = targets.size(0);
  if (samples == 0) return;
  const auto outputs = static_cast<size_t>(targets.num_elements() / samples);
  if (count_ > 0 && outputs != outputs_.size()) {
    RaiseStatus(
        InvalidArgument("a sample has ", outputs, " numbers, those before had ", outputs_.size()),
        "R2");
  }
  const std::vector<double> p = predictions.ToVector<double>(), t = targets.ToVector<double>();
  outputs_.resize(outputs);
  for (size_t i = 0; i < t.size(); ++i) {
    Output& o = outputs_[i % outputs];
    const auto before = static_cast<double>(count_ + static_cast<int64_t>(i / outputs));
    const double error = p[i] - t[i], from_mean = t[i] - o.mean;
    o.errors += error * error;
    o.mean += from_mean / (before + 1);
    o.distances += from_mean * (t[i] - o.mean);
  }
  count_ += samples;
}

double R2::Value() const {
  if (count_ < 2 || outputs_.empty()) return kNone;
  double sum = 0;
  for (const Output& o : outputs_) {
    sum += o.distances != 0 ? 1 - o.errors / o.distances : o.errors == 0 ? 1 : 0;
  }
  return sum / static_cast<double>(outputs_.size());
}

void R2::Merge(const R2& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  if (other.outputs_.size() != outputs_.size()) {
    RaiseStatus(InvalidArgument("cannot merge samples of ", other.outputs_.size(),
                                " numbers into samples of ", outputs_.size()),
                "R2");
  }
  const auto here = static_cast<double>(count_), there = static_cast<double>(other.count_);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Output& o = outputs_[i];
    const Output& x = other.outputs_[i];
    const double apart = x.mean - o.mean;
    o.errors += x.errors;
    o.distances += x.distances + apart * apart * here * there / (here + there);
    o.mean += apart * there / (here + there);
  }
  count_ += other.count_;
}

void MeanSquaredError::Update(const Tensor& predictions, const Tensor& targets) {
  RequireOneShape(predictions, targets, "MeanSquaredError");
  ForEachError(predictions, targets, [this](double error) { sum_ += error * error; });
  count_ += targets.num_elements();
}

double MeanSquaredError::Value() const {
  if (count_ == 0) return kNone;
  const double mean = sum_ / static_cast<double>(count_);
  return options_.root ? std::sqrt(mean) : mean;
}

void MeanSquaredError::Merge(const MeanSquaredError& other) {
  sum_ += other.sum_;
  count_ += other.count_;
}

void MeanAbsoluteError::Update(const Tensor& predictions, const Tensor& targets) {
  RequireOneShape(predictions, targets, "MeanAbsoluteError");
  ForEachError(predictions, targets, [this](double error) { sum_ += std::abs(error); });
  count_ += targets.num_elements();
}

double MeanAbsoluteError::Value() const {
  return count_ == 0 ? kNone : sum_ / static_cast<double>(count_);
}

void MeanAbsoluteError::Merge(const MeanAbsoluteError& other) {
  sum_ += other.sum_;
  count_ += other.count_;
}

}  // namespace firn::io
