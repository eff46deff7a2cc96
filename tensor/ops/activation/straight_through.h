#ifndef FIRN_TENSOR_OPS_ACTIVATION_STRAIGHT_THROUGH_H_
#define FIRN_TENSOR_OPS_ACTIVATION_STRAIGHT_THROUGH_H_

#include "firn/tensor/tensor.h"

namespace firn {

// y, whose gradient goes unchanged to x and not to y: the straight-through estimator (Bengio et
// al., 2013). StraightThrough(Round(x), x) rounds, but has the gradient of x. Two floating tensors
// of one dtype, which broadcast.
Tensor StraightThrough(const Tensor& y, const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ACTIVATION_STRAIGHT_THROUGH_H_
