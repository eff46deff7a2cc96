#ifndef FIRN_TOOLS_FIRN_STATISTICS_H_
#define FIRN_TOOLS_FIRN_STATISTICS_H_

#include <cstdint>
#include <limits>

#include "tensor/tensor.h"

namespace firn::cli {

// Of numbers that come one after the other.
class Statistics {
 public:
  void Add(double value);

  int64_t finite() const { return finite_; }
  int64_t nan() const { return nan_; }
  int64_t infinite() const { return infinite_; }
  int64_t count() const { return finite_ + nan_ + infinite_; }
  // Of the finite ones; without any, 0, and infinities the other way round for the first two.
  double least() const { return least_; }
  double most() const { return most_; }
  double mean() const { return mean_; }
  double deviation() const;

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double mean_ = 0, squares_ = 0;
  int64_t finite_ = 0, nan_ = 0, infinite_ = 0;
};

// Of all elements, in little memory beside the tensor's.
Statistics StatisticsOf(const Tensor& t);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_STATISTICS_H_
