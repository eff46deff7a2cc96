#ifndef FIRN_TENSOR_OPS_POOL_POOL_WINDOW_H_
#define FIRN_TENSOR_OPS_POOL_POOL_WINDOW_H_

// What the pooling operations share on every device.

#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/conv/images.h"

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

namespace inner {
// One axis of one window: the taps inside the image, and its extent with padding for averages.
struct PoolSpan {
  int64_t begin, end;  // end is exclusive; taps are begin, begin + dilation, ...
  int64_t padded;      // positions of begin..end were padding counted too
};
FIRN_HOST_DEVICE inline PoolSpan PoolWindow(int64_t o, int64_t in, int64_t kernel, int64_t stride,
                                            int64_t padding, int64_t dilation, int64_t adaptive) {
  if (adaptive != 0) {
    const int64_t begin = Quotient(o * in, adaptive);
    const int64_t end = Quotient((o + 1) * in + adaptive - 1, adaptive);
    return {begin, end, end - begin};
  }
  const int64_t start = o * stride - padding;
  const int64_t stop = start + dilation * (kernel - 1) + 1;
  const int64_t padded_stop = stop < in + padding ? stop : in + padding;
  const int64_t skipped = start < 0 ? Quotient(-start + dilation - 1, dilation) * dilation : 0;
  return {start + skipped, stop < in ? stop : in, padded_stop - start};
}

// One axis of all windows.
struct PoolAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1, adaptive = 0;

  FIRN_HOST_DEVICE PoolSpan Window(int64_t o) const {
    return PoolWindow(o, in, kernel, stride, padding, dilation, adaptive);
  }
  // Whether windows share out the axis, up to what is left behind the last one.
  bool tiles() const {
    return adaptive == 0 && padding == 0 && dilation == 1 && kernel == stride && out * stride <= in;
  }
  // The windows from `begin` up to `end` of which one may hold position i, and no other: all of
  // them do without dilation.
  struct Windows {
    int64_t begin, end;
  };
  FIRN_HOST_DEVICE Windows Holding(int64_t i) const {
    if (adaptive != 0) {
      return {Quotient(i * adaptive, in), Quotient((i + 1) * adaptive + in - 1, in)};
    }
    const int64_t skipped = i + padding - dilation * (kernel - 1);  // the first starts no earlier
    const int64_t end = Quotient(i + padding, stride) + 1;
    return {skipped <= 0 ? 0 : Quotient(skipped + stride - 1, stride), end < out ? end : out};
  }
};

// Of images of up to three dimensions; those that are not there are of size 1.
struct PoolAxes {
  PoolAxes(const Sizes& in, const Sizes& out, const PoolAttrs& a) {
    PoolAxis* const axes[] = {&w, &h, &d};
    for (int i = 0; i < in.count(); ++i) {
      PoolAxis& axis = *axes[in.count() - 1 - i];
      // Whatever is said of them, adaptive windows have no gaps.
      axis = {in[i],        out[i],       a.kernel[i],
              a.stride[i],  a.padding[i], a.is_adaptive() ? 1 : a.dilation[i],
              a.adaptive[i]};
    }
  }
  FIRN_HOST_DEVICE int64_t image() const { return d.in * h.in * w.in; }
  FIRN_HOST_DEVICE int64_t pixels() const { return d.out * h.out * w.out; }

  PoolAxis d, h, w;
};
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_POOL_POOL_WINDOW_H_
