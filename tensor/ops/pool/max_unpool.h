#ifndef FIRN_TENSOR_OPS_POOL_MAX_UNPOOL_H_
#define FIRN_TENSOR_OPS_POOL_MAX_UNPOOL_H_

#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct MaxUnpool2dOptions {
  Sizes kernel = 2;
  Sizes stride = {};  // default: the kernel
  Sizes padding = 0;
  // Height and width of the result. Default: (size - 1) stride - 2 padding + kernel, the smallest
  // image from which pooling gives `size`.
  Sizes output_size = {};
  template <class V>
  void Visit(V& v) {
    v.Always("kernel", kernel);
    v.Field("stride", stride);
    v.Field("padding", padding);
    v.Field("output_size", output_size);
  }
};

// Puts each element of x at its index into an image of zeros, which puts the maxima of max pooling
// back in their places (PyTorch's max_unpool2d). Among elements with the same index the last one
// stays; the gradient of each is that of its place.
//
// x: [n, c, h, w]      indices: i32 or i64 of x's shape, positions h' * width + w' in the
//   result's image
// y: [n, c, output_size]; all may lack the batch
//
// Throws firn::Error for an index outside the image.
Tensor MaxUnpool2d(const Tensor& x, const Tensor& indices, const MaxUnpool2dOptions& options);

namespace inner {
struct PoolAttrs;

// The attributes of max_unpool2d.
struct UnpoolAttrs {
  Sizes output_size = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("output_size", output_size);
  }
};

// Adds each element of `grad` to the image position that its index names: dx of max pooling.
// `attrs` has the windows, unless its kernel is 0, and the image's size in attrs.image.
// grad, indices (i32 or i64): [n, c, pooled...]      result: [n, c, image...]
Tensor MaxPoolGrad(const Tensor& grad, const Tensor& indices, const PoolAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_POOL_MAX_UNPOOL_H_
