#ifndef FIRN_TENSOR_OPS_SILU_H_
#define FIRN_TENSOR_OPS_SILU_H_

#include "tensor/tensor.h"

namespace firn {

// x * sigmoid(x), also called swish. Integers and bools become f32.
Tensor Silu(const Tensor& x);

namespace inner {
// Its gradient: dy * s * (1 + x * (1 - s)) with s = sigmoid(x).
Tensor SiluGrad(const Tensor& dy, const Tensor& x);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SILU_H_
