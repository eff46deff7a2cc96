#ifndef FIRN_TOOLS_FIRN_STATISTICS_H_
#define FIRN_TOOLS_FIRN_STATISTICS_H_

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace firn::cli {

// Of the elements of one tensor, or of several.
class Statistics {
 public:
  void Add(const Tensor& t);

  // "nan", "infinite" and, where an element is finite, "min", "max", "mean", "std".
  void AddTo(nlohmann::json* j) const;
  // Cells of a table: min, max, mean, std, and what is odd.
  void AddTo(std::vector<std::string>* line) const;

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double mean_ = 0, squares_ = 0;  // of the finite ones
  int64_t finite_ = 0, nan_ = 0, infinite_ = 0;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_STATISTICS_H_
