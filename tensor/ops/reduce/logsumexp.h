#ifndef FIRN_TENSOR_OPS_REDUCE_LOGSUMEXP_H_
#define FIRN_TENSOR_OPS_REDUCE_LOGSUMEXP_H_

#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

namespace firn {

// log(sum(exp(x))) over `dims` (empty: all), in range for any finite values. Without elements, or
// if all are -inf, it is -inf, and its gradient is 0. Integers and bool become f32; half types
// compute in float.
Tensor Logsumexp(const Tensor& x, const DimList& dims = {}, inner::Flag keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_LOGSUMEXP_H_
