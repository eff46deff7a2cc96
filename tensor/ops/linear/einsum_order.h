#ifndef FIRN_TENSOR_OPS_LINEAR_EINSUM_ORDER_H_
#define FIRN_TENSOR_OPS_LINEAR_EINSUM_ORDER_H_

// In which order einsum contracts its operands.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "firn/device/inner.h"

namespace firn {

// Two terms become one, which has the labels `kept`. Operands are terms 0, 1, ..., and results of
// steps the terms behind them.
struct EinsumStep {
  size_t left, right;
  std::string kept;
};

// The steps that take the fewest multiplications; from left to right if that is one of several such
// orders. For more than ten operands the cheapest pair is contracted at each step. Requires: no
// label twice on an operand, and a size for each.
std::vector<EinsumStep> CheapestSteps(const std::vector<std::string>& operands,
                                      const std::string& output,
                                      const std::map<char, int64_t>& sizes);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINEAR_EINSUM_ORDER_H_
