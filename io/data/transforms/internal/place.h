#ifndef FIRN_IO_DATA_TRANSFORMS_INTERNAL_PLACE_H_
#define FIRN_IO_DATA_TRANSFORMS_INTERNAL_PLACE_H_

#include <cstdint>
#include <optional>

#include "firn/io/data/transforms/internal/resample.h"
#include "firn/io/data/transforms/transform.h"

namespace firn::io::internal {

// How a part of an image is drawn: by its share of the area and its shape.
struct PartDraw {
  Interval scale;  // of the area
  // One side by the other, uniform in its logarithm: width / height, or `tall` the other way.
  Interval ratio;
  bool tall = false;
  bool whole = true;  // the part may be as large as the image
};

// A part at a random place, of up to ten draws the first that fits into height x width pixels; none
// where none does. What torchvision's RandomResizedCrop and RandomErasing have in common.
std::optional<Region> DrawPart(RandomGenerator& random, int64_t height, int64_t width,
                               const PartDraw& draw);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_TRANSFORMS_INTERNAL_PLACE_H_
