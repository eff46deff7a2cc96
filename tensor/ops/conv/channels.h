#ifndef FIRN_TENSOR_OPS_CONV_CHANNELS_H_
#define FIRN_TENSOR_OPS_CONV_CHANNELS_H_

#include "firn/tensor/tensor.h"

namespace firn {

// x * scale + shift with one number per channel (dimension 1); undefined means 1 and 0.
// x: [n, c, ...]      scale, shift: [c], of x's dtype or both f32 where it is a half type
// y: like x, also in layout
Tensor ChannelAffine(const Tensor& x, const Tensor& scale, const Tensor& shift);

namespace inner {
// Inputs of channel_affine, by position.
struct ChannelAffineIn {
  enum : int { kX, kScale, kShift };
};

// The sum over every dimension but the second: [n, c, ...] -> [c]. The gradient of a per-channel
// bias; unlike Sum it reads blocked tensors as they are.
Tensor ChannelSum(const Tensor& x);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CONV_CHANNELS_H_
