#ifndef FIRN_IO_DATA_TRANSFORMS_FLIP_H_
#define FIRN_IO_DATA_TRANSFORMS_FLIP_H_

#include "firn/io/data/transforms/transform.h"

namespace firn::io {

struct RandomFlipOptions {
  double p = 0.5;  // 1 flips every image and draws nothing
};

// With probability p, left and right change places. Throws unless 0 <= p <= 1.
Transform RandomHorizontalFlip(const RandomFlipOptions& options = {});

// With probability p, top and bottom change places. Throws unless 0 <= p <= 1.
Transform RandomVerticalFlip(const RandomFlipOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_FLIP_H_
