#ifndef FIRN_TENSOR_OPS_REDUCE_SUM_H_
#define FIRN_TENSOR_OPS_REDUCE_SUM_H_

#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The sum over `dims` (empty: all). Half types accumulate in float; bool and integers give i64.
Tensor Sum(const Tensor& x, const DimList& dims = {}, inner::Flag keepdim = false);

// The mean over `dims` (empty: all). Half types accumulate in float; of no elements it is NaN.
// Throws on integers and bool: the caller says in which dtype with To.
Tensor Mean(const Tensor& x, const DimList& dims = {}, inner::Flag keepdim = false);

// Sums x over the dimensions along which a tensor of `shape` was broadcast to x's shape: the
// adjoint of Expand. x itself when the shapes agree. Throws when `shape` does not broadcast to x's.
Tensor SumTo(const Tensor& x, const Shape& shape);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_SUM_H_
