#ifndef FIRN_TENSOR_OPS_CONV_CONV_H_
#define FIRN_TENSOR_OPS_CONV_CONV_H_

#include <concepts>

#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Padding of a convolution: lines of zeros on both sides, or kSame (the output has the input's
// size; stride 1 only; an odd total puts the extra line at the end) or kValid (none).
struct ConvPadding {
  Sizes size = 0;
  bool same = false;
  ConvPadding() = default;
  template <inner::internal::IntegerArgument T>
  ConvPadding(T every) : size(every) {}  // NOLINT: implicit, as in {.padding = 1}
  template <inner::internal::FlagArgument T>
  ConvPadding(T a_flag_is_no_size) = delete;
  template <std::floating_point T>
  ConvPadding(T a_fraction_is_no_size) = delete;
  ConvPadding(const Sizes& s) : size(s) {}  // NOLINT
  ConvPadding(int64_t h, int64_t w) : size(h, w) {}
  ConvPadding(int64_t d, int64_t h, int64_t w) : size(d, h, w) {}
};
inline const ConvPadding kSame = [] {
  ConvPadding p;
  p.same = true;
  return p;
}();
inline const ConvPadding kValid = ConvPadding(0);

struct ConvOptions {
  Sizes stride = 1;
  ConvPadding padding = 0;
  Sizes dilation = 1;
  int64_t groups = 1;
};
using Conv1dOptions = ConvOptions;
using Conv2dOptions = ConvOptions;
using Conv3dOptions = ConvOptions;

// Cross-correlation (LeCun et al., 1998; PyTorch's conv2d):
//   y[n, o, i, j] = bias[o] +
//                   sum_{c, u, v} weight[o, c, u, v] x[n, c, i s - p + u d, j s - p + v d]
// x: [n, in, h, w]      weight: [out, in / groups, kh, kw]      bias: [out] or undefined
// y: [n, out, (h + 2p - d (kh - 1) - 1) / s + 1, ...]
// x may lack its batch; y then lacks it, too: [in, h, w]. Throws firn::Error for any other rank,
// and for options of more than two numbers.
// f32 may use the Winograd transform, which rounds to about 2e-6 of the largest result.
Tensor Conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {});

// The same along one dimension.
// x: [n, in, w] or [in, w]      weight: [out, in / groups, kw]      y: [n, out, ...], or without n
// like x
Tensor Conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv1dOptions& options = {});

// The same for volumes.
// x: [n, in, d, h, w] or [in, d, h, w]      weight: [out, in / groups, kd, kh, kw]
// y: [n, out, ...], or without n like x
Tensor Conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv3dOptions& options = {});

namespace inner {
struct ConvAttrs;

// The convolution of x, which must have a batch, with these attributes.
Tensor ConvWith(const Tensor& x, const Tensor& weight, const ConvAttrs& attrs);

// The gradient of sum(y * grad) for y = conv(x, weight) with respect to weight, whose kernel size
// is attrs.result. Linear in x and in grad, and differentiable in both.
Tensor ConvWeightGrad(const Tensor& x, const Tensor& grad, const ConvAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CONV_CONV_H_
