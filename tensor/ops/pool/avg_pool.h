#ifndef FIRN_TENSOR_OPS_POOL_AVG_POOL_H_
#define FIRN_TENSOR_OPS_POOL_AVG_POOL_H_

#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct AvgPoolOptions {
  Sizes kernel = 2;
  Sizes stride = {};  // default: the kernel
  Sizes padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;  // padding counts as zeros in the average
  int64_t divisor_override = 0;   // not 0: the sum is divided by this (1: sum pooling)
  template <class V>
  void Visit(V& v) {
    v.Always("kernel", kernel);
    v.Field("stride", stride);
    v.Field("padding", padding);
    v.Field("ceil_mode", ceil_mode);
    v.Field("count_include_pad", count_include_pad);
    v.Field("divisor_override", divisor_override);
  }
  // Throws when the windows fit no image.
  void Check(const char* where) const;
};
using AvgPool1dOptions = AvgPoolOptions;
using AvgPool2dOptions = AvgPoolOptions;
using AvgPool3dOptions = AvgPoolOptions;

// The average of each window.
// x: [n, c, h, w]      y: [n, c, (h + 2p - k) / s + 1, ...], rounded up with ceil_mode
// x may lack its batch; y then lacks it, too: [c, h, w]. Throws firn::Error for any other rank,
// options of more than two numbers, and padding of more than half the kernel.
Tensor AvgPool2d(const Tensor& x, const AvgPool2dOptions& options);
inline Tensor AvgPool2d(const Tensor& x, inner::Integer kernel) {
  return AvgPool2d(x, AvgPool2dOptions{.kernel = int64_t{kernel}});
}

// The same along one dimension. x: [n, c, w] or [c, w]
Tensor AvgPool1d(const Tensor& x, const AvgPool1dOptions& options);
inline Tensor AvgPool1d(const Tensor& x, inner::Integer kernel) {
  return AvgPool1d(x, AvgPool1dOptions{.kernel = int64_t{kernel}});
}

// The same for volumes. x: [n, c, d, h, w] or [c, d, h, w]
Tensor AvgPool3d(const Tensor& x, const AvgPool3dOptions& options);
inline Tensor AvgPool3d(const Tensor& x, inner::Integer kernel) {
  return AvgPool3d(x, AvgPool3dOptions{.kernel = int64_t{kernel}});
}

// Averages over windows chosen to give `output_size`: window i of n covers
// [floor(i in / n), ceil((i + 1) in / n)). Size 1 is global average pooling.
// x: [n, c, h, w]      y: [n, c, output_size]; both may lack the batch
Tensor AdaptiveAvgPool2d(const Tensor& x, const Sizes& output_size);
// The same along one dimension. x: [n, c, w] or [c, w]
Tensor AdaptiveAvgPool1d(const Tensor& x, const Sizes& output_size);
// The same for volumes. x: [n, c, d, h, w] or [c, d, h, w]
Tensor AdaptiveAvgPool3d(const Tensor& x, const Sizes& output_size);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_POOL_AVG_POOL_H_
