#ifndef FIRN_IO_DATA_TRANSFORMS_NORMALIZE_H_
#define FIRN_IO_DATA_TRANSFORMS_NORMALIZE_H_

#include <vector>

#include "firn/io/data/transforms/transform.h"

namespace firn::io {

// u8 as f32, divided by 255: torchvision's ToTensor. An f32 image stays as it is.
Transform ToFloat();

struct NormalizeOptions {
  // One for each channel, or one for all. For images of 0 to 1 those of ImageNet are
  // {0.485, 0.456, 0.406} and {0.229, 0.224, 0.225}.
  std::vector<double> mean = {};
  std::vector<double> stddev = {};
};

// (x - mean) / stddev as f32, after ToFloat: to the bit what torchvision's Normalize makes of
// ToTensor's result. Throws unless there are as many means as deviations, all finite and those
// positive; of an image with another number of channels.
Transform Normalize(const NormalizeOptions& options);

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_NORMALIZE_H_
