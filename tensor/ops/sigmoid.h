#ifndef FIRN_TENSOR_OPS_SIGMOID_H_
#define FIRN_TENSOR_OPS_SIGMOID_H_

#include "tensor/tensor.h"

namespace firn {

// 1 / (1 + e^-x). Integers and bools become f32.
Tensor Sigmoid(const Tensor& x);

namespace inner {
// Its gradient from the result: dy * y * (1 - y).
Tensor SigmoidGrad(const Tensor& dy, const Tensor& y);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SIGMOID_H_
