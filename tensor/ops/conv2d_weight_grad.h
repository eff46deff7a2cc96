#ifndef FIRN_TENSOR_OPS_CONV2D_WEIGHT_GRAD_H_
#define FIRN_TENSOR_OPS_CONV2D_WEIGHT_GRAD_H_

#include "tensor/tensor.h"

namespace firn::inner {

struct ConvAttrs;

// The gradient of sum(y * grad) for y = conv2d(x, weight) with respect to weight, whose kernel size
// is attrs.result. Linear in x and in grad, and differentiable in both.
Tensor Conv2dWeightGrad(const Tensor& x, const Tensor& grad, const ConvAttrs& attrs);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_CONV2D_WEIGHT_GRAD_H_
