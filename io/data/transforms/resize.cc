// The sizes; internal/resample.cc computes.
#include "firn/io/data/transforms/resize.h"

#include <algorithm>

#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/io/data/transforms/internal/resample.h"
#include "firn/tensor/error.h"

namespace firn::io {

Transform Resize(const ResizeOptions& options) {
  const char* const who = "resize";
  if (options.shorter != 0 && (options.height != 0 || options.width != 0)) {
    RaiseStatus(
        InvalidArgument("expected either shorter or height and width, got shorter ",
                        options.shorter, ", height ", options.height, ", width ", options.width),
        who);
  }
  if (options.shorter != 0) {
    internal::RequireSide(options.shorter, "shorter", who);
  } else {
    internal::RequireSide(options.height, "height", who);
    internal::RequireSide(options.width, "width", who);
  }
  return [options, who](const Tensor& image, RandomGenerator&, internal::Scene* scene) {
    const Tensor from = internal::CheckedImage(image, who);
    const int64_t h = from.size(1), w = from.size(2);
    int64_t height = options.height, width = options.width;
    if (options.shorter != 0) {
      height = h <= w ? options.shorter : options.shorter * h / w;
      width = w <= h ? options.shorter : options.shorter * w / h;
    }
    if (scene != nullptr) internal::MoveTo({0, 0, h, w}, height, width, scene);
    return internal::Resample(from, {0, 0, h, w}, height, width,
                              {options.interpolation, options.antialias}, who);
  };
}

}  // namespace firn::io
