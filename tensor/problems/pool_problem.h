#ifndef FIRN_TENSOR_PROBLEMS_POOL_PROBLEM_H_
#define FIRN_TENSOR_PROBLEMS_POOL_PROBLEM_H_

// Parts shared by pooling operations on every device: attributes and sizes. Where windows lie is in
// tensor/kernels/pool_axes.h.

#include "firn/tensor/op.h"
#include "firn/tensor/problems/images.h"

namespace firn {

namespace inner {
struct PoolAttrs {
  Sizes kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool ceil_mode = false;
  bool count_include_pad = true;
  int64_t divisor_override = 0;
  // Not 0: window i of n covers [floor(i in / n), ceil((i + 1) in / n)), whatever the above
  // says.
  Sizes adaptive = 0;
  // The image size, for the gradient operations, whose inputs do not tell it.
  Sizes image = 0;

  // Kernel 0, of the gradient operations: their values and indices need not come from windows.
  bool knows_windows() const { return !kernel.Are(0); }
  bool is_adaptive() const { return !adaptive.Are(0); }
  template <class V>
  void Visit(V& v) {
    v.Renamed("kernel", kernel, {"kernel_h", "kernel_w"});
    v.Renamed("stride", stride, {"stride_h", "stride_w"});
    v.Renamed("padding", padding, {"padding_h", "padding_w"});
    v.Renamed("dilation", dilation, {"dilation_h", "dilation_w"});
    v.Field("ceil_mode", ceil_mode);
    v.Field("count_include_pad", count_include_pad);
    v.Field("divisor_override", divisor_override);
    v.Renamed("adaptive", adaptive, {"adaptive_h", "adaptive_w"});
    v.Renamed("image", image, {"image_h", "image_w"});
  }
};

// An error if the windows fit no image.
absl::Status CheckWindows(const PoolAttrs& a);
// Size of the pooled image, or an error naming the option that does not fit.
absl::StatusOr<Sizes> PoolOutputSize(const Sizes& image, const PoolAttrs& a);
}  // namespace inner

namespace inner::internal {

// The workspace of a gradient whose overlapping windows add up in float: of half types, a sum for
// each element of the result; others add up in the result itself.
inline size_t PoolSumsBytes(const KernelQuery& q) {
  const bool half = SizeOf(q.out().dtype) < static_cast<int64_t>(sizeof(float));
  return half ? static_cast<size_t>(q.out().num_elements()) * sizeof(float) : 0;
}

}  // namespace inner::internal

}  // namespace firn

#endif  // FIRN_TENSOR_PROBLEMS_POOL_PROBLEM_H_
