#ifndef FIRN_TENSOR_OPS_CHANNEL_SUM_H_
#define FIRN_TENSOR_OPS_CHANNEL_SUM_H_

#include "tensor/tensor.h"

namespace firn::inner {

// The sum over every dimension but the second: [n, c, ...] -> [c]. The gradient of a per-channel
// bias; unlike Sum it reads blocked tensors as they are.
Tensor ChannelSum(const Tensor& x);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_CHANNEL_SUM_H_
