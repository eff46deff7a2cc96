#ifndef FIRN_TENSOR_OPS_PAD_GRAD_H_
#define FIRN_TENSOR_OPS_PAD_GRAD_H_

#include "tensor/ops/pad.h"
#include "tensor/tensor.h"

namespace firn::inner {

// The adjoint of Pad: every element of dy is added to the element that it was copied from.
Tensor PadGrad(const Tensor& dy, const PadAttrs& attrs);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_PAD_GRAD_H_
