#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_RATIO_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_RATIO_H_

#include "firn/tensor/tensor.h"

namespace firn::inner {

// x times y / z, broadcast, and 0 where z is 0; also where y / z leaves the range of the dtype, but
// x / z does not. Floating tensors of one dtype. Gradients of lengths use it, where x are
// components of vectors of length z.
Tensor MulRatio(const Tensor& x, const Tensor& y, const Tensor& z);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_RATIO_H_
