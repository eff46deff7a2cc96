#ifndef FIRN_TENSOR_OPS_POOL_POOL_BODY_H_
#define FIRN_TENSOR_OPS_POOL_POOL_BODY_H_

// Where the windows of pooling operations lie, for bodies. Images are [planes][d][h][w][lanes]: a
// plane a channel and one lane where they are row-major, a plane a block of channels and these the
// lanes where they are blocked.

#include <algorithm>
#include <cstdint>

#include "firn/device/macros.h"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/ops/pool/pool_window.h"

namespace firn {

// Of an image and what it is pooled to: one that is a single pixel fits either order.
inline int64_t PoolLanesOf(const TensorSpec& a, const TensorSpec& b) {
  return std::max({1, a.layout.channel_block, b.layout.channel_block});
}

// Where an element lies in its image.
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

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_POOL_POOL_BODY_H_
