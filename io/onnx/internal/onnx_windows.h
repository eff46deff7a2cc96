#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_WINDOWS_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_WINDOWS_H_

// The windows of convolutions and pooling, and helpers that pages of operators share.

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/sizes.h"

namespace firn::io::internal {

// An optional input; undefined if it is absent.
inline Tensor At(In in, size_t i) { return i < in.size() ? in[i] : Tensor(); }

// Throws unless each is from `least` to 2^31 - 1, so that arithmetic with a few of them cannot
// overflow; `what` names them in messages.
void RequireSizes(absl::Span<const int64_t> numbers, std::string_view what, int64_t least = 0);

// The sizes behind batch and channels. Throws unless there are 1 to 3.
std::vector<int64_t> ImageAt(const OnnxCall& call, size_t input);

// For each dimension of an image.
struct OnnxWindows {
  std::vector<int64_t> image, kernel, stride, dilation, begin, end;  // the last two: padding
  bool ceil = false;

  size_t dims() const { return image.size(); }
  // The extent of a window with its gaps.
  int64_t Extent(size_t i) const { return dilation[i] * (kernel[i] - 1) + 1; }
  // How many windows there are. With `ceil` the last may reach beyond the padding, not begin there.
  int64_t Count(size_t i) const;
  // Whether padding is the same on both sides.
  bool IsEven() const { return begin == end; }
};

// By the attributes strides, dilations, pads, auto_pad and ceil_mode, for windows of this size.
OnnxWindows WindowsOf(const OnnxCall& call, std::vector<int64_t> image,
                      std::vector<int64_t> kernel);
// The attribute kernel_shape. Throws unless it has a number for each dimension.
std::vector<int64_t> KernelOf(const OnnxCall& call, size_t dims);

Sizes SizesOf(const std::vector<int64_t>& numbers);

// x with this padding in its last dimensions (negative: cut off).
Tensor PadImage(const Tensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                double value = 0);
// [c] as it broadcasts with [n, c, ...] of this rank.
Tensor PerChannel(const Tensor& x, int rank);

// A convolution of 1 to 3 dimensions.
Tensor ConvolveOnnx(const Tensor& x, const Tensor& w, const Tensor& bias,
                    const OnnxWindows& windows, int64_t groups);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_WINDOWS_H_
