#ifndef FIRN_TENSOR_OPS_REDUCE_PRODUCT_H_
#define FIRN_TENSOR_OPS_REDUCE_PRODUCT_H_

#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The product over `dims` (empty: all); of no elements: 1. Half types multiply in float; bool and
// integers give i64. The gradient is exact also where elements are 0. A product of some elements
// that leaves the range of f32 is not brought back by further ones, as in PyTorch: of {1e30, 1e30,
// 1e-30, 1e-30} it is infinite, and NaN if a 0 follows. The gradient has a range of its own.
Tensor Prod(const Tensor& x, const DimList& dims = {}, inner::Flag keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_PRODUCT_H_
