#ifndef FIRN_TENSOR_OPS_MEAN_H_
#define FIRN_TENSOR_OPS_MEAN_H_

#include "tensor/ops/sum.h"

namespace firn {

// The mean over `dims` (empty: all). Half types accumulate in float; of no elements it is NaN.
// Throws on integers and bool: the caller says in which dtype with To.
Tensor Mean(const Tensor& x, const DimList& dims = {}, bool keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MEAN_H_
