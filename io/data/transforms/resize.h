#ifndef FIRN_IO_DATA_TRANSFORMS_RESIZE_H_
#define FIRN_IO_DATA_TRANSFORMS_RESIZE_H_

#include <cstdint>

#include "firn/io/data/transforms/transform.h"

namespace firn::io {

// How pixels between pixels are made.
enum class Interpolation {
  kNearest,   // the pixel whose square the place lies in
  kBilinear,  // in proportion, of the two nearest in each direction
  // By Keys' cubics, of the four nearest in each direction: sharper, and results may lie beyond the
  // pixels they are made of; u8 is cut to 0 .. 255. Resize and RandomResizedCrop alone have it.
  kBicubic,
};

struct ResizeOptions {
  // Either this: the shorter side gets it, the other one shorter * long / short, rounded down, ...
  int64_t shorter = 0;
  int64_t height = 0, width = 0;  // ... or both of these
  Interpolation interpolation = Interpolation::kBilinear;
  // kBilinear and kBicubic blur an image as much as they shrink it, so that every pixel counts.
  // Pillow always does this.
  bool antialias = true;
};

// The image [c, h, w] as [c, height, width]. Computes as Pillow's resize, which torchvision's
// Resize calls for PIL images: u8 to the bit for kBilinear and kBicubic (a = -0.5) with antialias
// (weights of 22 bits, first along rows, rounded to u8 between the two directions); f32 with
// weights of f32, as torchvision's for tensors. kNearest takes the pixel at floor((i + 0.5) * in /
// out), as Pillow and PyTorch's "nearest-exact". Without antialias, the two or four neighbours of
// (i + 0.5) * in / out - 0.5 (align_corners=False; a = -0.75 for kBicubic), as PyTorch's
// interpolate.
// Throws unless either `shorter` or both `height` and `width` are 1 to 2^20, the others 0.
Transform Resize(const ResizeOptions& options);

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_RESIZE_H_
