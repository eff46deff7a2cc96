#ifndef FIRN_TENSOR_OPS_VISION_SEPARABLE_H_
#define FIRN_TENSOR_OPS_VISION_SEPARABLE_H_

#include "firn/tensor/tensor.h"

namespace firn {

// Each place of an image through a kernel of its own, the product of a column and a row (Niklaus et
// al., 2017; NNabla's adaptive_separable_convolution), that all channels share:
//   y[n, c, i, j] = sum_{u, v} vertical[n, u, i, j] horizontal[n, v, i, j] x[n, c, i + u, j + v]
// x: [n, c, h, w], floating      vertical: [n, kv, oh, ow]      horizontal: [n, kh, oh, ow]
// y: [n, c, oh, ow], oh = h - kv + 1, ow = w - kh + 1: Pad x before for a result of its size
// All are of one dtype, half types compute in f32. Throws on other shapes and dtypes.
Tensor AdaptiveSeparableConv2d(const Tensor& x, const Tensor& vertical, const Tensor& horizontal);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_SEPARABLE_H_
