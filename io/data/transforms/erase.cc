// A copy of the image, overwritten row by row.
#include "firn/io/data/transforms/erase.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/draw.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/io/data/transforms/internal/place.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

template <class T>
void Erase(const internal::Plane<T>& plane, const internal::Region& part,
           const RandomErasingOptions& options, RandomGenerator& random) {
  for (int64_t y = part.top; y < part.top + part.height; ++y) {
    T* row = plane.row(y) + part.left;
    if constexpr (std::is_same_v<T, float>) {
      if (options.noise) {
        internal::Normals(random, part.width, row);
        continue;
      }
    }
    std::fill_n(row, part.width, static_cast<T>(options.value));
  }
}

}  // namespace

Transform RandomErasing(const RandomErasingOptions& options) {
  const char* const who = "random_erasing";
  internal::RequireProbability(options.p, who);
  internal::RequireInterval(options.scale, 0, "scale", who);
  if (options.scale.high > 1) {
    RaiseStatus(InvalidArgument("scale is ", options.scale.low, " to ", options.scale.high,
                                " (want within 0 to 1)"),
                who);
  }
  internal::RequireInterval(options.ratio, std::numeric_limits<double>::min(), "ratio", who);
  internal::RequireFinite(options.value, "value", who);
  return [options, who](const Tensor& image, RandomGenerator& random) {
    Tensor from = internal::CheckedImage(image, who);
    if (options.noise && from.dtype() != DType::kF32) {
      RaiseStatus(InvalidArgument("expected an image f32 for noise, got ", from.spec().ToString()),
                  who);
    }
    internal::RequirePixel(from, options.value, "value", who);
    if (!internal::Chance(random, options.p)) return from;
    const std::optional<internal::Region> part = internal::DrawPart(
        random, from.size(1), from.size(2),
        {.scale = options.scale, .ratio = options.ratio, .tall = true, .whole = false});
    if (!part.has_value()) return from;
    Tensor out = internal::NewImage(from, from.size(1), from.size(2), who);
    internal::ForPixels(from, [&](auto pixel) {
      using T = decltype(pixel);
      std::copy_n(from.host_view<T>().data(), from.num_elements(),
                  out.mutable_host_view<T>().data());
      for (int64_t c = 0; c < from.size(0); ++c) {
        Erase(internal::MutablePlaneOf<T>(out, c), *part, options, random);
      }
    });
    return out;
  };
}

}  // namespace firn::io
