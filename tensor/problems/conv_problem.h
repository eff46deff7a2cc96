#ifndef FIRN_TENSOR_PROBLEMS_CONV_PROBLEM_H_
#define FIRN_TENSOR_PROBLEMS_CONV_PROBLEM_H_

// Parts shared by convolutions on every device: options, sizes and shape rules. They have one, two
// or three spatial dimensions, as many as their tensors have beyond two.

#include <cstdint>

#include "firn/tensor/op.h"
#include "firn/tensor/problems/images.h"
#include "firn/tensor/problems/norm_options.h"
#include "firn/tensor/sizes.h"

namespace firn {

namespace inner {
// Inputs of a convolution, by position.
struct ConvIn {
  enum : int { kX, kWeight, kBias };
};

// The attributes of a convolution and its two gradient operations.
struct ConvAttrs {
  Sizes stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  // Result size of the operations whose result is larger than their inputs determine: the image of
  // a transposed convolution, the kernel of a weight gradient.
  Sizes result = 0;
  template <class V>
  void Visit(V& v) {
    v.Renamed("stride", stride, {"stride_h", "stride_w"});
    v.Renamed("padding", padding, {"padding_h", "padding_w"});
    v.Renamed("dilation", dilation, {"dilation_h", "dilation_w"});
    v.Field("groups", groups);
    v.Renamed("result", result, {"result_h", "result_w"});
  }
};

// The attributes of conv2d_act: a convolution whose result goes through an activation.
struct ConvActAttrs {
  ConvAttrs conv;
  FusedActivation activation = FusedActivation::kRelu;
  template <class V>
  void Visit(V& v) {
    conv.Visit(v);
    v.Field("activation", activation);
  }
};

// One convolution problem; any of its three tensors may be the one to compute:
//   x [batch, in, in_size], weight [out, in / groups, kernel], y [batch, out, out_size].
// Every size has a number for each spatial dimension.
struct ConvProblem {
  int64_t batch = 0, in = 0, out = 0;
  Sizes in_size, out_size, kernel;
  ConvAttrs attrs;

  int dims() const { return kernel.count(); }
  int64_t in_per_group() const { return in / attrs.groups; }
  int64_t out_per_group() const { return out / attrs.groups; }
  // The same problem in `dims` dimensions, of which the outer ones have images and kernels of size
  // 1: kernels for three dimensions serve the others too. Requires: dims is not smaller.
  ConvProblem Lifted(int dims) const;
  // 2 * multiply-adds, padded taps counted.
  double flops() const;
};
}  // namespace inner

namespace inner {
// The problem of y = conv(x, weight), checked. Requires of all three: tensors with one, two or
// three spatial dimensions.
absl::StatusOr<ConvProblem> ConvForward(const Shape& x, const Shape& weight, const ConvAttrs& a);
// The problem whose x is the result of conv_transpose(y, weight) with image size a.result.
absl::StatusOr<ConvProblem> ConvBackwardData(const Shape& y, const Shape& weight,
                                             const ConvAttrs& a);
// The problem whose weight is the result of conv_weight_grad(x, y) with kernel a.result.
absl::StatusOr<ConvProblem> ConvBackwardWeight(const Shape& x, const Shape& y, const ConvAttrs& a);
// The problem of tensors whose shapes one of these accepted: read off, not solved again.
ConvProblem ConvProblemOf(const Shape& x, const Shape& weight, const Shape& y, const ConvAttrs& a);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_PROBLEMS_CONV_PROBLEM_H_
