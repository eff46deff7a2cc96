#ifndef FIRN_TENSOR_OPS_CONV_CONV_PROBLEM_H_
#define FIRN_TENSOR_OPS_CONV_CONV_PROBLEM_H_

// What the 2-D convolution operations share on every device: options, sizes and shape rules.

#include <cstdint>
#include <string_view>

#include "tensor/op.h"
#include "tensor/ops/conv/size2.h"
#include "tensor/ops/norm/norm_options.h"

namespace firn {

namespace inner {
// The attributes of conv2d and its two gradient operations.
struct ConvAttrs {
  Size2 stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  // Result size of the operations whose result is larger than their inputs determine: the image of
  // conv_transpose2d, the kernel of conv2d_weight_grad.
  Size2 result = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("stride_h", stride.h);
    v.Field("stride_w", stride.w);
    v.Field("padding_h", padding.h);
    v.Field("padding_w", padding.w);
    v.Field("dilation_h", dilation.h);
    v.Field("dilation_w", dilation.w);
    v.Field("groups", groups);
    v.Field("result_h", result.h);
    v.Field("result_w", result.w);
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

// One convolution problem, whichever of its three tensors is being computed:
//   x [batch, in, in_size], weight [out, in / groups, kernel], y [batch, out, out_size].
struct ConvProblem {
  int64_t batch = 0, in = 0, out = 0;
  Size2 in_size, out_size, kernel;
  ConvAttrs attrs;

  int64_t in_per_group() const { return in / attrs.groups; }
  int64_t out_per_group() const { return out / attrs.groups; }
  // 2 * multiply-adds, padded taps counted.
  double flops() const;
};
}  // namespace inner

namespace inner::internal {

// The largest kernel side, stride, padding, dilation, pooled size and number of groups: enough for
// any image, and no sum or product of them overflows.
inline constexpr int64_t kMaxOption = int64_t{1} << 24;
// An error that states the bounds unless low <= value <= kMaxOption. `axis` follows the name where
// it is not empty: "kernel height 0 (want 1 to 16777216)".
absl::Status CheckOption(std::string_view name, std::string_view axis, int64_t value, int64_t low);
// As above for both sides: "padding (-1, 0) (want 0 to 16777216)".
absl::Status CheckOption(std::string_view name, Size2 value, int64_t low);

}  // namespace inner::internal

namespace inner {
// floor((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1, or an error that says which
// size does not work.
absl::StatusOr<Size2> ConvOutputSize(Size2 in, Size2 kernel, const ConvAttrs& a);
// The problem of y = conv2d(x, weight), checked.
absl::StatusOr<ConvProblem> ConvForward(const Shape& x, const Shape& weight, const ConvAttrs& a);
// The problem whose x is the result of conv_transpose2d(y, weight) with image size a.result.
absl::StatusOr<ConvProblem> ConvBackwardData(const Shape& y, const Shape& weight,
                                             const ConvAttrs& a);
// The problem whose weight is the result of conv2d_weight_grad(x, y) with kernel a.result.
absl::StatusOr<ConvProblem> ConvBackwardWeight(const Shape& x, const Shape& y, const ConvAttrs& a);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_CONV_CONV_PROBLEM_H_
