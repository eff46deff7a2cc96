#ifndef FIRN_IO_DATA_TRANSFORMS_CROP_H_
#define FIRN_IO_DATA_TRANSFORMS_CROP_H_

#include <cstdint>

#include "firn/io/data/transforms/resize.h"
#include "firn/io/data/transforms/transform.h"
#include "firn/tensor/ops/shape/pad.h"

namespace firn::io {

struct CropOptions {
  int64_t height = 0, width = 0;
};

// The middle of the image, as torchvision's CenterCrop: it begins at (size - crop) / 2, halves
// rounded to even numbers. Throws unless the sides are 1 to 2^20 and, of an image, unless it is as
// large (torchvision adds a black border).
Transform CenterCrop(const CropOptions& options);

struct RandomCropOptions {
  int64_t height = 0, width = 0;
  // Padding that is added at each side before cropping.
  int64_t padding = 0;
  // If the image is still too small, adds the missing pixels at both sides.
  bool pad_if_needed = false;
  PadMode mode = PadMode::kConstant;  // the kind of padding
  double value = 0;                   // of kConstant, in the image's own units
};

// A rectangle of this size, every place equally likely; torchvision's RandomCrop. Throws unless the
// sides are 1 to 2^20 and the padding is 0 to 2^20; of an image that is smaller than the rectangle,
// or than `mode` needs.
Transform RandomCrop(const RandomCropOptions& options);

struct RandomResizedCropOptions {
  int64_t height = 0, width = 0;            // of the result
  Interval scale = {0.08, 1};               // the part's share of the image's area
  Interval ratio = {3.0 / 4.0, 4.0 / 3.0};  // its width / height
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;  // as of ResizeOptions
};

// A part of the image, resized; torchvision's RandomResizedCrop: up to ten draws of an area
// (uniform) and a ratio (uniform in its logarithm), the first that fits at a random place; where
// none fits, the middle of the image in the nearest ratio. Throws unless the sides are 1 to 2^20
// and both intervals positive.
Transform RandomResizedCrop(const RandomResizedCropOptions& options);

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_CROP_H_
