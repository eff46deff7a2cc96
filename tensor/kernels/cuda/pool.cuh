#ifndef FIRN_TENSOR_KERNELS_CUDA_POOL_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_POOL_CUH_

// What the pooling operations share. Images are [planes][h][w][lanes]: a plane a channel and one
// lane where they are row-major, a plane an image and its channels the lanes where they are NHWC.

#include <algorithm>

#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/kernels/cuda/for_each.cuh"
#include "tensor/kernels/cuda/layouts.h"
#include "tensor/ops/pool/pool_window.h"

namespace firn::cuda {

// Of an image and what it is pooled to: one that is a single pixel fits either order.
inline int64_t LanesOf(const TensorSpec& a, const TensorSpec& b) {
  return std::max({1, a.layout.channel_block, b.layout.channel_block});
}
inline Size2 ImageOf(const TensorSpec& s) { return {s.shape[2], s.shape[3]}; }

// One axis of all windows.
struct PoolAxis {
  int64_t in, out, kernel, stride, padding, dilation, adaptive;

  FIRN_HOST_DEVICE PoolSpan Window(int64_t o) const {
    return PoolWindow(o, in, kernel, stride, padding, dilation, adaptive);
  }
  // The windows from `begin` up to `end` of which one may hold position i, and no other: all of
  // them do without dilation.
  struct Windows {
    int64_t begin, end;
  };
  FIRN_HOST_DEVICE Windows Holding(int64_t i) const {
    if (adaptive != 0) return {i * adaptive / in, ((i + 1) * adaptive + in - 1) / in};
    const int64_t skipped = i + padding - dilation * (kernel - 1);  // the first starts no earlier
    const int64_t end = (i + padding) / stride + 1;
    return {skipped <= 0 ? 0 : (skipped + stride - 1) / stride, end < out ? end : out};
  }
};

struct PoolAxes {
  PoolAxes(Size2 in, Size2 out, const PoolAttrs& a)
      : h{in.h, out.h, a.kernel.h, a.stride.h, a.padding.h, a.dilation.h, a.adaptive.h},
        w{in.w, out.w, a.kernel.w, a.stride.w, a.padding.w, a.dilation.w, a.adaptive.w} {}

  PoolAxis h, w;
};

// Where an element lies in its image.
struct PoolPlace {
  int64_t plane, row, col, lane;
};
FIRN_HOST_DEVICE inline PoolPlace PlaceOf(int64_t i, int64_t height, int64_t width, int64_t lanes) {
  PoolPlace p;
  p.lane = lanes == 1 ? 0 : TakeDigit(i, lanes);
  p.col = TakeDigit(i, width);
  p.row = TakeDigit(i, height);
  p.plane = i;
  return p;
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_POOL_CUH_
