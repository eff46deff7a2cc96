#ifndef FIRN_TENSOR_OPS_POOL_AVG_POOL_H_
#define FIRN_TENSOR_OPS_POOL_AVG_POOL_H_

#include <optional>

#include "tensor/sizes.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct PoolAttrs;
}  // namespace inner

struct AvgPool2dOptions {
  Sizes kernel = 2;
  std::optional<Sizes> stride = {};  // default: the kernel
  Sizes padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;  // padding counts as zeros in the average
  int64_t divisor_override = 0;   // not 0: the sum is divided by this (1: sum pooling)
};

// The average of each window.
// x: [n, c, h, w]      y: [n, c, (h + 2p - k) / s + 1, ...], rounded up with ceil_mode
Tensor AvgPool2d(const Tensor& x, const AvgPool2dOptions& options);
inline Tensor AvgPool2d(const Tensor& x, int64_t kernel) {
  return AvgPool2d(x, AvgPool2dOptions{.kernel = kernel});
}

namespace inner {
// The operation itself, for pooling functions built on it.
Tensor AvgPool2dWith(const Tensor& x, const PoolAttrs& attrs);
}  // namespace inner

// Averages over windows chosen to give `output_size`: window i of n covers
// [floor(i in / n), ceil((i + 1) in / n)). Size 1 is global average pooling.
// x: [n, c, h, w]      y: [n, c, output_size]
Tensor AdaptiveAvgPool2d(const Tensor& x, const Sizes& output_size);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_POOL_AVG_POOL_H_
