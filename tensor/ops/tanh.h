#ifndef FIRN_TENSOR_OPS_TANH_H_
#define FIRN_TENSOR_OPS_TANH_H_

#include "tensor/tensor.h"

namespace firn {

// The hyperbolic tangent. Integers and bools become f32.
Tensor Tanh(const Tensor& x);

namespace inner {
// Its gradient from the result: dy * (1 - y * y).
Tensor TanhGrad(const Tensor& dy, const Tensor& y);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_TANH_H_
