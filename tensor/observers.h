#ifndef FIRN_TENSOR_OBSERVERS_H_
#define FIRN_TENSOR_OBSERVERS_H_

// Calibration: the numbers that a tensor has in some batches decide the scale and zero point by
// which it is quantized (tensor/ops/quantize/affine.h).

#include <cstdint>
#include <vector>

#include "firn/device/arguments.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The scale and zero point by which QuantizeLinear turns numbers into integers.
struct Quantization {
  double scale = 1;
  int64_t zero_point = 0;
  DType dtype = DType::kI8;
};

struct QuantizationOptions {
  DType dtype = DType::kI8;  // or u8
  bool symmetric = false;    // the zero point is the middle: 0 of i8, 128 of u8
};

// The quantization whose numbers reach from `low` to `high`, both moved so that 0 lies between them
// and is a level exactly. Where the range is only 0, the scale is 1. Throws firn::Error unless low
// <= high, both are finite, and the dtype is i8 or u8.
Quantization QuantizationOf(inner::Real low, inner::Real high,
                            const QuantizationOptions& options = {});

// Sees batches and chooses the range to quantize. Values are read on the host. NaN and infinities
// are ignored. Thread-compatible.
class RangeObserver {
 public:
  struct Range {
    double low = 0, high = 0;
  };

  virtual ~RangeObserver() = default;
  // The elements of x, of any dtype.
  void Observe(const Tensor& x);
  bool seen() const { return seen_; }  // a number
  // Throws firn::Error before a number was seen.
  Range range() const;
  // QuantizationOf the range.
  Quantization Choose(const QuantizationOptions& options = {}) const;

 protected:
  virtual void Add(const std::vector<double>& finite) = 0;  // at least one number was seen
  virtual Range Find() const = 0;

 private:
  bool seen_ = false;
};

// From the smallest to the largest number that was seen.
class MinMaxObserver final : public RangeObserver {
 protected:
  void Add(const std::vector<double>& finite) override;
  Range Find() const override { return range_; }

 private:
  bool any_ = false;
  Range range_;
};

// How many numbers fell into each of some intervals of equal length. Where numbers lie beyond the
// ends, pairs of intervals are joined until all numbers fit.
class HistogramObserver : public RangeObserver {
 public:
  static constexpr int64_t kBins = 4096;

 protected:
  void Add(const std::vector<double>& finite) override;
  double total() const { return total_; }
  const std::vector<double>& counts() const { return counts_; }  // kBins
  // In halves, because the sum of 4096 of the longest intervals is infinite.
  double edge(int64_t bin) const {
    return 2 * (low_ / 2 + static_cast<double>(bin) * (width_ / 2));
  }
  double center(int64_t bin) const { return edge(bin) + width_ / 2; }
  // The range that was seen, within the first and the last interval.
  Range extremes() const { return extremes_; }

 private:
  void Widen(bool down);

  std::vector<double> counts_;
  double low_ = 0, width_ = 0, total_ = 0;
  Range extremes_;
};

// Without the (1 - percentile / 100) / 2 lowest and highest parts of the numbers that were seen, to
// one of 4096 intervals.
class PercentileObserver final : public HistogramObserver {
 public:
  // Throws firn::Error unless 0 < percentile <= 100.
  explicit PercentileObserver(inner::Real percentile = 99.99);

 protected:
  Range Find() const override;

 private:
  double percentile_;
};

// Chooses among 100 parts of the range that was seen, whose ends are multiples of a hundredth, the
// one whose quantization to 2^bits levels has the least mean of squared errors.
class MseObserver final : public HistogramObserver {
 public:
  // Throws firn::Error unless bits is between 2 and 16.
  explicit MseObserver(inner::Integer bits = 8);

 protected:
  Range Find() const override;

 private:
  double Error(const Range& range) const;

  int64_t bits_;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OBSERVERS_H_
