#ifndef FIRN_TENSOR_OPS_CHANNEL_AFFINE_H_
#define FIRN_TENSOR_OPS_CHANNEL_AFFINE_H_

#include "tensor/tensor.h"

namespace firn {

// x * scale + shift with one number per channel (dimension 1); undefined means 1 and 0.
// x: [n, c, ...]      scale, shift: [c]      y: as x, also in layout
Tensor ChannelAffine(const Tensor& x, const Tensor& scale, const Tensor& shift);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CHANNEL_AFFINE_H_
