#ifndef FIRN_TENSOR_OPS_ALL_H_
#define FIRN_TENSOR_OPS_ALL_H_

#include <vector>

#include "tensor/ops/sum.h"

namespace firn {

// Whether no element over `dims` (empty: all) is zero. Of no elements: true. Any dtype, the result
// is bool. Not differentiable.
Tensor All(const Tensor& x, std::vector<int64_t> dims = {}, bool keepdim = false);
inline Tensor All(const Tensor& x, int dim, bool keepdim = false) {
  return All(x, std::vector<int64_t>{dim}, keepdim);
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ALL_H_
