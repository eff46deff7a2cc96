#ifndef FIRN_IO_DATA_TRANSFORMS_BLUR_H_
#define FIRN_IO_DATA_TRANSFORMS_BLUR_H_

#include <cstdint>

#include "firn/io/data/transforms/transform.h"

namespace firn::io {

struct GaussianBlurOptions {
  int64_t kernel = 3;         // pixels in each direction, odd
  Interval sigma = {0.1, 2};  // the standard deviation in pixels
};

// Every pixel becomes the mean of those around it, with weights exp(-d^2 / (2 sigma^2)) along each
// direction; beyond the border the image is reflected. torchvision's GaussianBlur; u8 is rounded to
// the nearest, halves to even numbers. Throws unless the kernel is odd, 1 to 1023, and sigma
// positive; of an image that has not more than kernel / 2 pixels in each direction.
Transform GaussianBlur(const GaussianBlurOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_BLUR_H_
