#ifndef FIRN_IO_DATA_TRANSFORMS_INTERNAL_RESAMPLE_H_
#define FIRN_IO_DATA_TRANSFORMS_INTERNAL_RESAMPLE_H_

#include <cstdint>

#include "firn/io/data/transforms/internal/scene.h"
#include "firn/io/data/transforms/resize.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

// A rectangle of an image, in pixels.
struct Region {
  int64_t top, left, height, width;
};

// Notes in the scene that the region becomes an image of this size. Requires: a scene.
void MoveTo(const Region& from, int64_t height, int64_t width, Scene* scene);

struct ResampleOptions {
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
};

// The pixels of `from` as an image of this size, as if they were an image of their own. Requires: a
// checked image, a region of at least one pixel inside, sides of at least 1.
Tensor Resample(const Tensor& image, const Region& from, int64_t height, int64_t width,
                const ResampleOptions& options, const char* who);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_TRANSFORMS_INTERNAL_RESAMPLE_H_
