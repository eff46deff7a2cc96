#ifndef FIRN_TENSOR_OPS_ANY_H_
#define FIRN_TENSOR_OPS_ANY_H_

#include "tensor/ops/sum.h"

namespace firn {

// Whether any element over `dims` (empty: all) is not zero; NaN is not. Of no elements: false. Any
// dtype, the result is bool. Not differentiable.
Tensor Any(const Tensor& x, const DimList& dims = {}, bool keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ANY_H_
