#ifndef FIRN_TENSOR_OPS_MEAN_H_
#define FIRN_TENSOR_OPS_MEAN_H_

#include <vector>

#include "tensor/ops/sum.h"

namespace firn {

// The mean over `dims` (empty: all). Half types accumulate in float; of no elements it is NaN.
// Throws on integers and bool: the caller says in which dtype with To.
Tensor Mean(const Tensor& x, std::vector<int64_t> dims = {}, bool keepdim = false);
inline Tensor Mean(const Tensor& x, int dim, bool keepdim = false) {
  return Mean(x, std::vector<int64_t>{dim}, keepdim);
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MEAN_H_
