#ifndef FIRN_TENSOR_OPS_POOL_MAX_POOL_H_
#define FIRN_TENSOR_OPS_POOL_MAX_POOL_H_

#include "firn/tensor/ops/reduce/values_and_indices.h"
#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct MaxPoolOptions {
  Sizes kernel = 2;
  Sizes stride = {};  // default: the kernel
  Sizes padding = 0, dilation = 1;
  bool ceil_mode = false;
  template <class V>
  void Visit(V& v) {
    v.Always("kernel", kernel);
    v.Field("stride", stride);
    v.Field("padding", padding);
    v.Field("dilation", dilation);
    v.Field("ceil_mode", ceil_mode);
  }
  // Throws when the windows fit no image.
  void Check(const char* where) const;
};
using MaxPool1dOptions = MaxPoolOptions;
using MaxPool2dOptions = MaxPoolOptions;
using MaxPool3dOptions = MaxPoolOptions;

// The largest element of each window. Padding never wins, the first maximum does, and NaN beats
// all (PyTorch's max_pool2d).
// x: [n, c, h, w]      y: [n, c, (h + 2p - d (k - 1) - 1) / s + 1, ...], rounded up with ceil_mode
// x may lack its batch; y then lacks it, too: [c, h, w]. Throws firn::Error for any other rank,
// options of more than two numbers, padding of more than half the kernel, and windows that lie
// completely in the padding.
Tensor MaxPool2d(const Tensor& x, const MaxPool2dOptions& options);
inline Tensor MaxPool2d(const Tensor& x, inner::Integer kernel) {
  return MaxPool2d(x, MaxPool2dOptions{.kernel = int64_t{kernel}});
}

// The same along one dimension. x: [n, c, w] or [c, w]
Tensor MaxPool1d(const Tensor& x, const MaxPool1dOptions& options);
inline Tensor MaxPool1d(const Tensor& x, inner::Integer kernel) {
  return MaxPool1d(x, MaxPool1dOptions{.kernel = int64_t{kernel}});
}

// The same for volumes. x: [n, c, d, h, w] or [c, d, h, w]
Tensor MaxPool3d(const Tensor& x, const MaxPool3dOptions& options);
inline Tensor MaxPool3d(const Tensor& x, inner::Integer kernel) {
  return MaxPool3d(x, MaxPool3dOptions{.kernel = int64_t{kernel}});
}

// Also gives the places of the maxima (PyTorch's return_indices): i64 positions in the channel's
// image,
// h * width + w, or (d * height + h) * width + w.
ValuesAndIndices MaxPool1dWithIndices(const Tensor& x, const MaxPool1dOptions& options);
ValuesAndIndices MaxPool2dWithIndices(const Tensor& x, const MaxPool2dOptions& options);
ValuesAndIndices MaxPool3dWithIndices(const Tensor& x, const MaxPool3dOptions& options);

// Maxima over windows chosen to give `output_size`: window i of n covers
// [floor(i in / n), ceil((i + 1) in / n)). Size 1 is global max pooling.
// x: [n, c, h, w]      y: [n, c, output_size]; both may lack the batch
Tensor AdaptiveMaxPool2d(const Tensor& x, const Sizes& output_size);
// The same along one dimension. x: [n, c, w] or [c, w]
Tensor AdaptiveMaxPool1d(const Tensor& x, const Sizes& output_size);
// The same for volumes. x: [n, c, d, h, w] or [c, d, h, w]
Tensor AdaptiveMaxPool3d(const Tensor& x, const Sizes& output_size);
// Also gives the places of the maxima, as above.
ValuesAndIndices AdaptiveMaxPool1dWithIndices(const Tensor& x, const Sizes& output_size);
ValuesAndIndices AdaptiveMaxPool2dWithIndices(const Tensor& x, const Sizes& output_size);
ValuesAndIndices AdaptiveMaxPool3dWithIndices(const Tensor& x, const Sizes& output_size);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_POOL_MAX_POOL_H_
