#ifndef FIRN_TENSOR_OPS_AMAX_H_
#define FIRN_TENSOR_OPS_AMAX_H_

#include <vector>

#include "tensor/ops/sum.h"

namespace firn {

// The largest element over `dims` (empty: all); NaN where there is one. Elements that tie for it
// share the gradient evenly. Any dtype. Throws when there are no elements to choose from.
Tensor Amax(const Tensor& x, std::vector<int64_t> dims = {}, bool keepdim = false);
inline Tensor Amax(const Tensor& x, int dim, bool keepdim = false) {
  return Amax(x, std::vector<int64_t>{dim}, keepdim);
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_AMAX_H_
