#ifndef FIRN_IO_DATA_TRANSFORMS_INTERNAL_SCENE_H_
#define FIRN_IO_DATA_TRANSFORMS_INTERNAL_SCENE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// Where the place (x, y) of a result lies in the image: (m[0] x + m[1] y + m[2], m[3] x + m[4] y +
// m[5]). Pixel i reaches from i to i + 1.
using AffineMatrix = std::array<double, 6>;

// The boxes and masks that move with an image. A transform that moves pixels says once where they
// go, unless the scene is null.
struct Scene {
  std::vector<Tensor> boxes;  // f64 [n, 4]: x1, y1, x2, y2
  std::vector<Tensor> masks;  // [..., height, width], contiguous, on the CPU

  // The image is now height x width pixels, seen through the matrix. Boxes become the smallest
  // upright ones around what they held, inside of the image; masks take the nearest pixel, 0 beside
  // the image. Requires: an invertible matrix.
  void Move(const AffineMatrix& matrix, int64_t height, int64_t width);
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_TRANSFORMS_INTERNAL_SCENE_H_
