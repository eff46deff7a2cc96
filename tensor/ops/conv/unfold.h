#ifndef FIRN_TENSOR_OPS_CONV_UNFOLD_H_
#define FIRN_TENSOR_OPS_CONV_UNFOLD_H_

#include <cstdint>

#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct UnfoldOptions {
  Sizes kernel = 1;
  Sizes dilation = 1, padding = 0, stride = 1;
  // Spatial dimensions: 1 to 3. 0: as many as an option has numbers, two if all have one.
  int64_t dims = 0;
  template <class V>
  void Visit(V& v) {
    v.Always("kernel", kernel);
    v.Field("dilation", dilation);
    v.Field("padding", padding);
    v.Field("stride", stride);
    v.Field("dims", dims);
  }
};

// The windows of a convolution as columns (im2col; PyTorch's unfold): y[n, (c, u, v), l] is the
// element of channel c that tap (u, v) of the kernel meets in window l, 0 in the padding.
// x: [n, c, h, w]      y: [n, c kh kw, windows], windows (h + 2p - d (kh - 1) - 1) / s + 1, ...
// x may lack its batch; y then lacks it, too. With dims = 1 or 3 the same for sequences and
// volumes. Throws firn::Error for any other rank, and for options of other numbers than 1 or dims.
Tensor Unfold(const Tensor& x, const UnfoldOptions& options);

struct FoldOptions {
  Sizes output_size = 1;  // of the image
  Sizes kernel = 1;
  Sizes dilation = 1, padding = 0, stride = 1;
  int64_t dims = 0;  // as for Unfold
  template <class V>
  void Visit(V& v) {
    v.Always("output_size", output_size);
    v.Always("kernel", kernel);
    v.Field("dilation", dilation);
    v.Field("padding", padding);
    v.Field("stride", stride);
    v.Field("dims", dims);
  }
};

// The sum of all windows, each in its place in the image (col2im; PyTorch's fold): the adjoint of
// Unfold, and its inverse where windows tile the image.
// x: [n, c kh kw, windows]      y: [n, c, output_size]; both may lack the batch
Tensor Fold(const Tensor& x, const FoldOptions& options);

namespace inner {
// The attributes of unfold and fold.
struct UnfoldAttrs {
  Sizes kernel = 1, dilation = 1, padding = 0, stride = 1;
  Sizes output_size = 0;  // of fold, a number for each dimension
  template <class V>
  void Visit(V& v) {
    v.Field("kernel", kernel);
    v.Field("dilation", dilation);
    v.Field("padding", padding);
    v.Field("stride", stride);
    v.Field("output_size", output_size);
  }
};
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CONV_UNFOLD_H_
