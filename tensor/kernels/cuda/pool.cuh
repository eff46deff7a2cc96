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
  PoolAxes(const Sizes& in, const Sizes& out, const PoolAttrs& a)
      : h{in[0], out[0], a.kernel[0], a.stride[0], a.padding[0], a.dilation[0], a.adaptive[0]},
        w{in[1], out[1], a.kernel[1], a.stride[1], a.padding[1], a.dilation[1], a.adaptive[1]} {}

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
