#ifndef FIRN_TENSOR_OPS_POOL_MAX_POOL_H_
#define FIRN_TENSOR_OPS_POOL_MAX_POOL_H_

#include <optional>

#include "tensor/sizes.h"
#include "tensor/tensor.h"

namespace firn {

struct MaxPool2dOptions {
  Sizes kernel = 2;
  std::optional<Sizes> stride = {};  // default: the kernel
  Sizes padding = 0, dilation = 1;
  bool ceil_mode = false;
};

// The largest element of each window. Padding never wins, the first maximum does, and NaN beats
// all. x: [n, c, h, w]      y: [n, c, (h + 2p - d (k - 1) - 1) / s + 1, ...], rounded up with
// ceil_mode
Tensor MaxPool2d(const Tensor& x, const MaxPool2dOptions& options);
inline Tensor MaxPool2d(const Tensor& x, int64_t kernel) {
  return MaxPool2d(x, MaxPool2dOptions{.kernel = kernel});
}

struct ValuesIndices {
  Tensor values, indices;
};
// Also where the maxima were: i64, h * width + w in the image.
ValuesIndices MaxPool2dWithIndices(const Tensor& x, const MaxPool2dOptions& options);

namespace inner {
// Adds each element of `grad` to the image position its index names: dx of max_pool2d.
// grad, indices (i32): [n, c, oh, ow]      result: [n, c, image]
Tensor MaxPool2dGrad(const Tensor& grad, const Tensor& indices, const Sizes& image);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_POOL_MAX_POOL_H_
