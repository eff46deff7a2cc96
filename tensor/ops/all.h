#ifndef FIRN_TENSOR_OPS_ALL_H_
#define FIRN_TENSOR_OPS_ALL_H_

#include "tensor/ops/sum.h"

namespace firn {

// Whether no element over `dims` (empty: all) is zero. Of no elements: true. Any dtype, the result
// is bool. Not differentiable.
Tensor All(const Tensor& x, const DimList& dims = {}, bool keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ALL_H_
