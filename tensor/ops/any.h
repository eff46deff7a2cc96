#ifndef FIRN_TENSOR_OPS_ANY_H_
#define FIRN_TENSOR_OPS_ANY_H_

#include <vector>

#include "tensor/ops/sum.h"

namespace firn {

// Whether any element over `dims` (empty: all) is not zero; NaN is not. Of no elements: false. Any
// dtype, the result is bool. Not differentiable.
Tensor Any(const Tensor& x, std::vector<int64_t> dims = {}, bool keepdim = false);
inline Tensor Any(const Tensor& x, int dim, bool keepdim = false) {
  return Any(x, std::vector<int64_t>{dim}, keepdim);
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ANY_H_
