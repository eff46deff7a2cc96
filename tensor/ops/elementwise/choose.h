#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_H_

#include "tensor/tensor.h"

namespace firn {

// x where the condition holds, else y; all three broadcast, x and y may be numbers and promote as
// PyTorch's. The condition is bool. The gradient of what was not chosen is exactly 0, whatever its
// value.
Tensor Where(const Tensor& condition, const Tensor& x, const Tensor& y);

// x with `value` where the mask (bool, broadcast with x) holds. The value is a number or a 0-d
// tensor and takes x's dtype. No gradient passes where the mask holds.
Tensor MaskedFill(const Tensor& x, const Tensor& mask, const Tensor& value);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_CHOOSE_H_
