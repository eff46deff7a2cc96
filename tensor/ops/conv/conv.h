#ifndef FIRN_TENSOR_OPS_CONV_CONV_H_
#define FIRN_TENSOR_OPS_CONV_CONV_H_

#include "tensor/ops/conv/size2.h"
#include "tensor/tensor.h"

namespace firn {

// Padding of a convolution: rows and columns of zeros on both sides, or kSame (the output has the
// input's size; stride 1 only; an odd total puts the extra line at the end) or kValid (none).
struct ConvPadding {
  Size2 size = 0;
  bool same = false;
  ConvPadding() = default;
  ConvPadding(int64_t both) : size(both) {}  // NOLINT: implicit, as in {.padding = 1}
  ConvPadding(Size2 s) : size(s) {}          // NOLINT
  ConvPadding(int64_t h, int64_t w) : size(h, w) {}
};
inline const ConvPadding kSame = [] {
  ConvPadding p;
  p.same = true;
  return p;
}();
inline const ConvPadding kValid = ConvPadding(0);

struct Conv2dOptions {
  Size2 stride = 1;
  ConvPadding padding = 0;
  Size2 dilation = 1;
  int64_t groups = 1;
};

// Cross-correlation (LeCun et al., 1998; PyTorch's conv2d):
//   y[n, o, i, j] = bias[o] + sum_{c, u, v} weight[o, c, u, v] x[n, c, i s - p + u d, j s - p + v
//   d]
// x: [n, in, h, w]      weight: [out, in / groups, kh, kw]      bias: [out] or undefined
// y: [n, out, (h + 2p - d (kh - 1) - 1) / s + 1, ...]
// f32 may use the Winograd transform, which rounds to about 1e-5 of the largest result.
Tensor Conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {});

namespace inner {
struct ConvAttrs;

// The gradient of sum(y * grad) for y = conv2d(x, weight) with respect to weight, whose kernel size
// is attrs.result. Linear in x and in grad, and differentiable in both.
Tensor Conv2dWeightGrad(const Tensor& x, const Tensor& grad, const ConvAttrs& attrs);
}  // namespace inner

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

#endif  // FIRN_TENSOR_OPS_CONV_CONV_H_
