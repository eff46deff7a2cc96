// A crop is a copy of rows. Padding is never stored: each pixel beyond the border is read from the
// place that the mode gives for it.
#include "firn/io/data/transforms/crop.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/draw.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/io/data/transforms/internal/place.h"
#include "firn/io/data/transforms/internal/resample.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using internal::Plane;
using internal::Region;

constexpr int64_t kNowhere = -1;

// The place in [0, n) that place i of the padded line shows.
int64_t Source(int64_t i, int64_t n, PadMode mode) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case PadMode::kConstant:
      return kNowhere;
    case PadMode::kReflect:
      return i < 0 ? -i : 2 * (n - 1) - i;
    case PadMode::kReplicate:
      return i < 0 ? 0 : n - 1;
    case PadMode::kCircular:
      return i < 0 ? i + n : i - n;
    case PadMode::kSymmetric:
      return i < 0 ? -1 - i : 2 * n - 1 - i;
  }
  return kNowhere;
}

std::vector<int64_t> Sources(int64_t begin, int64_t count, int64_t n, PadMode mode) {
  std::vector<int64_t> sources(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) sources[static_cast<size_t>(i)] = Source(begin + i, n, mode);
  return sources;
}

// `region` may reach beyond the image.
Tensor Crop(const Tensor& image, const Region& region, PadMode mode, double value,
            internal::Scene* scene, const char* who) {
  if (scene != nullptr) internal::MoveTo(region, region.height, region.width, scene);
  Tensor out = internal::NewImage(image, region.height, region.width, who);
  const std::vector<int64_t> ys = Sources(region.top, region.height, image.size(1), mode);
  const std::vector<int64_t> xs = Sources(region.left, region.width, image.size(2), mode);
  // Columns that are the image's own, [first, last).
  const int64_t first = std::clamp<int64_t>(-region.left, 0, region.width);
  const int64_t last = std::clamp(image.size(2) - region.left, first, region.width);
  internal::ForPixels(image, [&](auto pixel) {
    using T = decltype(pixel);
    const T fill = static_cast<T>(value);
    for (int64_t c = 0; c < image.size(0); ++c) {
      const Plane<const T> from = internal::PlaneOf<T>(image, c);
      const Plane<T> to = internal::MutablePlaneOf<T>(out, c);
      for (int64_t y = 0; y < region.height; ++y) {
        T* result = to.row(y);
        const int64_t at = ys[static_cast<size_t>(y)];
        if (at == kNowhere) {
          std::fill_n(result, region.width, fill);
          continue;
        }
        const T* row = from.row(at);
        const auto beside = [&](int64_t x) {
          const int64_t source = xs[static_cast<size_t>(x)];
          result[x] = source == kNowhere ? fill : row[source];
        };
        for (int64_t x = 0; x < first; ++x) beside(x);
        std::copy(row + region.left + first, row + region.left + last, result + first);
        for (int64_t x = last; x < region.width; ++x) beside(x);
      }
    }
  });
  return out;
}

[[noreturn]] void RefuseSmall(const Tensor& image, int64_t height, int64_t width,
                              const std::string& padding, const char* who) {
  RaiseStatus(InvalidArgument("expected an image of at least ", height, " x ", width, " pixels",
                              padding, ", got ", image.size(1), " x ", image.size(2)),
              who);
}

// The most padding that a mode can make of n pixels.
int64_t MostPadding(PadMode mode, int64_t n) {
  switch (mode) {
    case PadMode::kReflect:
      return n - 1;
    case PadMode::kCircular:
    case PadMode::kSymmetric:
      return n;
    default:
      return std::numeric_limits<int64_t>::max();
  }
}

// How much is added at each end of a side of n pixels, of which `crop` are wanted.
int64_t PaddingOf(const RandomCropOptions& options, int64_t n, int64_t crop) {
  const int64_t missing = crop - n - 2 * options.padding;
  return options.padding + (options.pad_if_needed ? std::max<int64_t>(missing, 0) : 0);
}

// The middle, as far as the image reaches into a ratio: torchvision's fallback.
Region MiddlePart(int64_t height, int64_t width, const Interval& ratio) {
  const double have = static_cast<double>(width) / static_cast<double>(height);
  Region part = {0, 0, height, width};
  if (have < ratio.low) {
    part.height = static_cast<int64_t>(std::nearbyint(static_cast<double>(width) / ratio.low));
  } else if (have > ratio.high) {
    part.width = static_cast<int64_t>(std::nearbyint(static_cast<double>(height) * ratio.high));
  }
  part.height = std::clamp<int64_t>(part.height, 1, height);
  part.width = std::clamp<int64_t>(part.width, 1, width);
  part.top = (height - part.height) / 2;
  part.left = (width - part.width) / 2;
  return part;
}

}  // namespace

Transform CenterCrop(const CropOptions& options) {
  const char* const who = "center_crop";
  internal::RequireSide(options.height, "height", who);
  internal::RequireSide(options.width, "width", who);
  return [options, who](const Tensor& image, RandomGenerator&, internal::Scene* scene) {
    const Tensor from = internal::CheckedImage(image, who);
    const int64_t down = from.size(1) - options.height, right = from.size(2) - options.width;
    if (down < 0 || right < 0) RefuseSmall(from, options.height, options.width, "", who);
    const auto half = [](int64_t n) {
      return static_cast<int64_t>(std::nearbyint(static_cast<double>(n) / 2));
    };
    return Crop(from, {half(down), half(right), options.height, options.width}, PadMode::kConstant,
                0, scene, who);
  };
}

Transform RandomCrop(const RandomCropOptions& options) {
  const char* const who = "random_crop";
  internal::RequireSide(options.height, "height", who);
  internal::RequireSide(options.width, "width", who);
  if (options.padding != 0) internal::RequireSide(options.padding, "padding", who);
  internal::RequireFinite(options.value, "value", who);
  return [options, who](const Tensor& image, RandomGenerator& random, internal::Scene* scene) {
    const Tensor from = internal::CheckedImage(image, who);
    internal::RequirePixel(from, options.value, "value", who);
    const int64_t above = PaddingOf(options, from.size(1), options.height);
    const int64_t before = PaddingOf(options, from.size(2), options.width);
    const int64_t down = from.size(1) + 2 * above - options.height;
    const int64_t right = from.size(2) + 2 * before - options.width;
    if (down < 0 || right < 0) {
      RefuseSmall(from, options.height, options.width,
                  absl::StrCat(" with ", options.padding, " added at each side"), who);
    }
    if (above > MostPadding(options.mode, from.size(1)) ||
        before > MostPadding(options.mode, from.size(2))) {
      RaiseStatus(InvalidArgument("expected an image large enough to add ", above, " rows and ",
                                  before, " columns at each side in this mode, got ", from.size(1),
                                  " x ", from.size(2), " pixels"),
                  who);
    }
    const int64_t top = internal::Below(random, down + 1) - above;
    const int64_t left = internal::Below(random, right + 1) - before;
    return Crop(from, {top, left, options.height, options.width}, options.mode, options.value,
                scene, who);
  };
}

Transform RandomResizedCrop(const RandomResizedCropOptions& options) {
  const char* const who = "random_resized_crop";
  internal::RequireSide(options.height, "height", who);
  internal::RequireSide(options.width, "width", who);
  internal::RequireInterval(options.scale, std::numeric_limits<double>::min(), "scale", who);
  internal::RequireInterval(options.ratio, std::numeric_limits<double>::min(), "ratio", who);
  return [options, who](const Tensor& image, RandomGenerator& random, internal::Scene* scene) {
    const Tensor from = internal::CheckedImage(image, who);
    const int64_t height = from.size(1), width = from.size(2);
    const Region part =
        internal::DrawPart(random, height, width, {.scale = options.scale, .ratio = options.ratio})
            .value_or(MiddlePart(height, width, options.ratio));
    if (scene != nullptr) internal::MoveTo(part, options.height, options.width, scene);
    return internal::Resample(from, part, options.height, options.width,
                              {options.interpolation, options.antialias}, who);
  };
}

}  // namespace firn::io
