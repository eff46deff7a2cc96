#ifndef FIRN_TENSOR_OPS_CONV1D_H_
#define FIRN_TENSOR_OPS_CONV1D_H_

#include "tensor/ops/conv2d.h"

namespace firn {

struct Conv1dOptions {
  int64_t stride = 1;
  ConvPadding padding = 0;  // one number, kSame or kValid
  int64_t dilation = 1;
  int64_t groups = 1;
};

// Cross-correlation along the last dimension: Conv2d of images of height 1.
// x: [n, in, w]      weight: [out, in / groups, kw]      bias: [out] or undefined
// y: [n, out, (w + 2p - d (kw - 1) - 1) / s + 1]
Tensor Conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv1dOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CONV1D_H_
