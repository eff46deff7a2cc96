#ifndef FIRN_IO_DATA_TRANSFORMS_ERASE_H_
#define FIRN_IO_DATA_TRANSFORMS_ERASE_H_

#include "firn/io/data/transforms/transform.h"

namespace firn::io {

struct RandomErasingOptions {
  double p = 0.5;
  Interval scale = {0.02, 0.33};  // the rectangle's share of the image's area
  Interval ratio = {0.3, 3.3};    // its height / width
  double value = 0;               // what stands there, in the image's own units
  bool noise = false;             // standard normal numbers instead; of f32 images
};

// With probability p, a rectangle of the image erased; torchvision's RandomErasing, from "Random
// erasing data augmentation", Zhong et al., 2017: up to ten draws of an area (uniform) and a ratio
// (uniform in its logarithm), of which the first that is smaller than the image in both directions
// is taken. If none fits, the image stays as it is. Usually the last transform, after Normalize.
// Throws unless 0 <= p <= 1, scale is within 0 to 1 and ratio positive; with noise, of u8.
Transform RandomErasing(const RandomErasingOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_ERASE_H_
