#ifndef FIRN_TENSOR_OPS_CONV_CONV_TRANSPOSE_H_
#define FIRN_TENSOR_OPS_CONV_CONV_TRANSPOSE_H_

#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct ConvAttrs;
}  // namespace inner

struct ConvTransposeOptions {
  Sizes stride = 1, padding = 0, output_padding = 0;
  int64_t groups = 1;
  Sizes dilation = 1;
};
using ConvTranspose1dOptions = ConvTransposeOptions;
using ConvTranspose2dOptions = ConvTransposeOptions;
using ConvTranspose3dOptions = ConvTransposeOptions;

// The transposed convolution: the data gradient of conv2d as an operation (PyTorch's
// conv_transpose2d; Zeiler et al., 2010).
// x: [n, in, h, w]      weight: [in, out / groups, kh, kw]      bias: [out] or undefined
// y: [n, out, (h - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1, ...]
// x may lack its batch; y then lacks it, too: [in, h, w]. Throws firn::Error for any other rank,
// for options of more than two numbers, and for an output_padding that is not smaller than stride
// or dilation.
Tensor ConvTranspose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                       const ConvTranspose2dOptions& options = {});

// The same along one dimension.
// x: [n, in, w] or [in, w]      weight: [in, out / groups, kw]      y: [n, out, ...], or without n
// like x
Tensor ConvTranspose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                       const ConvTranspose1dOptions& options = {});

// The same for volumes.
// x: [n, in, d, h, w] or [in, d, h, w]      weight: [in, out / groups, kd, kh, kw]
// y: [n, out, ...], or without n like x
Tensor ConvTranspose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                       const ConvTranspose3dOptions& options = {});

namespace inner {
// The transposed convolution of x, which must have a batch, to images of size attrs.result: dx of a
// convolution from dy.
Tensor ConvTransposeTo(const Tensor& x, const Tensor& weight, const ConvAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CONV_CONV_TRANSPOSE_H_
