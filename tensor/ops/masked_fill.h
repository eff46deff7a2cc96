#ifndef FIRN_TENSOR_OPS_MASKED_FILL_H_
#define FIRN_TENSOR_OPS_MASKED_FILL_H_

#include "tensor/tensor.h"

namespace firn {

// x with `value` where the mask (bool, broadcast with x) holds. The value is a number or a 0-d
// tensor and takes x's dtype. No gradient passes where the mask holds.
Tensor MaskedFill(const Tensor& x, const Tensor& mask, const Tensor& value);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_MASKED_FILL_H_
