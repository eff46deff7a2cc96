#ifndef FIRN_TENSOR_OPS_CONV_CONV_TRANSPOSE_H_
#define FIRN_TENSOR_OPS_CONV_CONV_TRANSPOSE_H_

#include "tensor/ops/conv/size2.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct ConvAttrs;
}  // namespace inner

struct ConvTranspose2dOptions {
  Size2 stride = 1, padding = 0, output_padding = 0;
  int64_t groups = 1;
  Size2 dilation = 1;
};

// The transposed convolution: the data gradient of conv2d as an operation (PyTorch's
// conv_transpose2d; Zeiler et al., 2010).
// x: [n, in, h, w]      weight: [in, out / groups, kh, kw]      bias: [out] or undefined
// y: [n, out, (h - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1, ...]
// output_padding must be smaller than stride or dilation.
Tensor ConvTranspose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                       const ConvTranspose2dOptions& options = {});

namespace inner {
// The same with the size of the result given as attrs.result: dx of conv2d from dy.
Tensor ConvTranspose2dTo(const Tensor& x, const Tensor& weight, const ConvAttrs& attrs,
                         const Tensor& bias = {});
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CONV_CONV_TRANSPOSE_H_
