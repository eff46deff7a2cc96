#ifndef FIRN_TENSOR_OPS_REDUCE_TRUTH_H_
#define FIRN_TENSOR_OPS_REDUCE_TRUTH_H_

#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Whether no element over `dims` (empty: all) is zero. For no elements: true. Any dtype, the result
// is bool. Not differentiable.
Tensor All(const Tensor& x, const DimList& dims = {}, inner::Flag keepdim = false);

// Whether any element over `dims` (empty: all) is not zero; NaN is not. For no elements: false. Any
// dtype, the result is bool. Not differentiable.
Tensor Any(const Tensor& x, const DimList& dims = {}, inner::Flag keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_TRUTH_H_
