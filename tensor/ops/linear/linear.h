#ifndef FIRN_TENSOR_OPS_LINEAR_LINEAR_H_
#define FIRN_TENSOR_OPS_LINEAR_LINEAR_H_

#include "firn/tensor/tensor.h"

namespace firn {

// y = x W^T + b on the last dimension, like torch.nn.functional.linear.
//   x: [..., in]   weight: [out, in]   bias: [out], or undefined for none   y: [..., out]
// All of one floating dtype; half types accumulate in float. Throws when the sizes differ.
Tensor Linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

namespace inner {
// Inputs of linear, by position.
struct LinearIn {
  enum : int { kX, kWeight, kBias };
};
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LINEAR_LINEAR_H_
