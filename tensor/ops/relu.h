#ifndef FIRN_TENSOR_OPS_RELU_H_
#define FIRN_TENSOR_OPS_RELU_H_

#include "tensor/tensor.h"

namespace firn {

// max(x, 0); NaN stays. The gradient at 0 is 0. Also for integers.
Tensor Relu(const Tensor& x);

namespace inner {
// Its gradient from the result: dy where y > 0, else 0.
Tensor ReluGrad(const Tensor& dy, const Tensor& y);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RELU_H_
