#ifndef FIRN_TENSOR_KERNELS_POOL_AXES_H_
#define FIRN_TENSOR_KERNELS_POOL_AXES_H_

// The places of the windows of pooling operations, for bodies. Images are [planes][d][h][w][lanes].
// In row-major images a plane is a channel and there is one lane; in blocked ones a plane is a
// block of channels, which are the lanes.

#include <algorithm>
#include <cstdint>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/problems/images.h"
#include "firn/tensor/problems/pool_problem.h"

namespace firn {

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
  // Whether windows are adjacent and cover the axis, except for a rest behind the last one.
  bool tiles() const {
    return adaptive == 0 && padding == 0 && dilation == 1 && kernel == stride && out * stride <= in;
  }
  // The windows [begin, end), outside of which no window holds position i; without dilation all of
  // them do.
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

// For images of up to three dimensions; missing ones have size 1.
struct PoolAxes {
  PoolAxes(const Sizes& in, const Sizes& out, const PoolAttrs& a) {
    PoolAxis* const axes[] = {&w, &h, &d};
    for (int i = 0; i < in.count(); ++i) {
      PoolAxis& axis = *axes[in.count() - 1 - i];
      // Adaptive windows have no gaps, whatever the attributes say.
      axis = {in[i],        out[i],       a.kernel[i],
              a.stride[i],  a.padding[i], a.is_adaptive() ? 1 : a.dilation[i],
              a.adaptive[i]};
    }
  }
  FIRN_HOST_DEVICE int64_t image() const { return d.in * h.in * w.in; }
  FIRN_HOST_DEVICE int64_t pixels() const { return d.out * h.out * w.out; }

  PoolAxis d, h, w;
};

// Takes an image and its pooled one, of which one with a single pixel fits either order.
inline int64_t PoolLanesOf(const TensorSpec& a, const TensorSpec& b) {
  return std::max({1, a.layout.channel_block, b.layout.channel_block});
}

// The place of an element in its image.
struct PoolPlace {
  int64_t plane, slice, row, col, lane;
};
FIRN_HOST_DEVICE inline PoolPlace PoolPlaceOf(int64_t i, int64_t depth, int64_t height,
                                              int64_t width, int64_t lanes) {
  PoolPlace p;
  p.lane = lanes == 1 ? 0 : TakeDigit(i, lanes);
  p.col = TakeDigit(i, width);
  p.row = TakeDigit(i, height);
  p.slice = depth == 1 ? 0 : TakeDigit(i, depth);
  p.plane = i;
  return p;
}

// The windows of averages.
struct AvgPoolWindows : PoolAxes {
  AvgPoolWindows(const TensorSpec& image, const TensorSpec& pooled, const PoolAttrs& a)
      : PoolAxes(ImageOf(image.shape), ImageOf(pooled.shape), a),
        divisor_override(a.divisor_override),
        count_include_pad(a.count_include_pad) {}

  int64_t divisor_override;
  bool count_include_pad;

  // Averages have no dilation.
  FIRN_HOST_DEVICE static PoolSpan Span(const PoolAxis& a, int64_t o) {
    return PoolWindow(o, a.in, a.kernel, a.stride, a.padding, 1, a.adaptive);
  }
  FIRN_HOST_DEVICE int64_t Divisor(const PoolSpan& slices, const PoolSpan& rows,
                                   const PoolSpan& cols) const {
    if (divisor_override != 0) return divisor_override;
    if (count_include_pad) return slices.padded * rows.padded * cols.padded;
    return (slices.end - slices.begin) * (rows.end - rows.begin) * (cols.end - cols.begin);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_KERNELS_POOL_AXES_H_
