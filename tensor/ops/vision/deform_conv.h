#ifndef FIRN_TENSOR_OPS_VISION_DEFORM_CONV_H_
#define FIRN_TENSOR_OPS_VISION_DEFORM_CONV_H_

#include <cstdint>

#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct DeformConv2dOptions {
  Sizes stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
};

// A convolution whose taps are moved, and weighted with a mask, at each place of the result (Dai et
// al., 2017; Zhu et al., 2019), as torchvision's deform_conv2d:
//   y[n, o, i, j] = bias[o] + sum_{c, u, v} weight[o, c, u, v] mask[n, .., i, j]
//                   x[n, c, i s - p + u d + dy[n, .., i, j], j s - p + v d + dx[n, .., i, j]]
// with x bilinear between its elements and 0 outside.
// x: [n, in, h, w], floating      weight: [out, in / groups, kh, kw]      bias: [out] or undefined
// offset: [n, parts kh kw 2, oh, ow], of each tap dy and dx in elements; the channels of x are
//   divided into as many parts as its shape says, which have offsets and masks of their own
// mask: [n, parts kh kw, oh, ow] or undefined
// y: [n, out, oh, ow], oh = (h + 2p - d (kh - 1) - 1) / s + 1
// All are of one dtype, half types compute in f32. Throws on other shapes, dtypes and options.
Tensor DeformConv2d(const Tensor& x, const Tensor& offset, const Tensor& weight,
                    const Tensor& bias = {}, const Tensor& mask = {},
                    const DeformConv2dOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_DEFORM_CONV_H_
