#ifndef FIRN_TOOLS_FIRN_STATISTICS_H_
#define FIRN_TOOLS_FIRN_STATISTICS_H_

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::cli {

// Statistics of numbers that come one after the other.
class Statistics {
 public:
  void Add(double value);
  // Adds all elements, with little memory beside the tensor's.
  void Add(const Tensor& t);

  int64_t count() const { return finite_ + nan_ + infinite_; }

  // "nan", "infinite" and, where a number is finite, "min", "max", "mean", "std".
  void AddTo(nlohmann::json* j) const;
  // Cells of a table: min, max, mean, std, and the counts of numbers that are not finite.
  void AddTo(std::vector<std::string>* line) const;

 private:
  double deviation() const;

  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double mean_ = 0, squares_ = 0;  // of the finite ones
  int64_t finite_ = 0, nan_ = 0, infinite_ = 0;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_STATISTICS_H_
