#ifndef FIRN_TENSOR_OPS_AMIN_H_
#define FIRN_TENSOR_OPS_AMIN_H_

#include <vector>

#include "tensor/ops/sum.h"

namespace firn {

// The smallest element over `dims` (empty: all); NaN where there is one. Elements that tie for it
// share the gradient evenly. Any dtype. Throws when there are no elements to choose from.
Tensor Amin(const Tensor& x, std::vector<int64_t> dims = {}, bool keepdim = false);
inline Tensor Amin(const Tensor& x, int dim, bool keepdim = false) {
  return Amin(x, std::vector<int64_t>{dim}, keepdim);
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_AMIN_H_
