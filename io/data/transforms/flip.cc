// Both flips are copies of rows.
#include "firn/io/data/transforms/flip.h"

#include <algorithm>

#include "firn/io/data/transforms/internal/draw.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/io/data/transforms/internal/scene.h"

namespace firn::io {
namespace {

using internal::Plane;

template <class CopyPlane>
Transform MakeFlip(const RandomFlipOptions& options, const char* who, bool sideways,
                   CopyPlane copy) {
  internal::RequireProbability(options.p, who);
  return [p = options.p, who, sideways, copy](const Tensor& image, RandomGenerator& random,
                                              internal::Scene* scene) {
    Tensor from = internal::CheckedImage(image, who);
    if (!internal::Chance(random, p)) return from;
    if (scene != nullptr) {
      const auto w = static_cast<double>(from.size(2)), h = static_cast<double>(from.size(1));
      using internal::AffineMatrix;
      scene->Move(sideways ? AffineMatrix{-1, 0, w, 0, 1, 0} : AffineMatrix{1, 0, 0, 0, -1, h},
                  from.size(1), from.size(2));
    }
    Tensor out = internal::NewImage(from, from.size(1), from.size(2), who);
    internal::ForPixels(from, [&](auto pixel) {
      using T = decltype(pixel);
      for (int64_t c = 0; c < from.size(0); ++c) {
        copy(internal::PlaneOf<T>(from, c), internal::MutablePlaneOf<T>(out, c));
      }
    });
    return out;
  };
}

}  // namespace

Transform RandomHorizontalFlip(const RandomFlipOptions& options) {
  return MakeFlip(options, "random_horizontal_flip", true, [](const auto& from, const auto& to) {
    for (int64_t y = 0; y < from.height; ++y) {
      std::reverse_copy(from.row(y), from.row(y) + from.width, to.row(y));
    }
  });
}

Transform RandomVerticalFlip(const RandomFlipOptions& options) {
  return MakeFlip(options, "random_vertical_flip", false, [](const auto& from, const auto& to) {
    for (int64_t y = 0; y < from.height; ++y) {
      std::copy_n(from.row(from.height - 1 - y), from.width, to.row(y));
    }
  });
}

}  // namespace firn::io
