// Checks and draws; internal/adjust.cc computes.
#include "firn/io/data/transforms/color.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/adjust.h"
#include "firn/io/data/transforms/internal/draw.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using Adjust = Tensor (*)(const Tensor& image, double factor, const char* who);
using Check = Tensor (*)(const Tensor& image, const char* who);

Transform ByFactor(double factor, Check check, Adjust adjust, const char* who) {
  internal::RequireNotNegative(factor, "factor", who);
  return
      [=](const Tensor& image, RandomGenerator&) { return adjust(check(image, who), factor, who); };
}

void RequireTurn(double turn, double least, const char* name, const char* who) {
  if (turn >= least && turn <= 0.5) return;
  RaiseStatus(InvalidArgument(name, " is ", turn, " (want ", least, " to 0.5)"), who);
}

// One of the jitter's four and the factor drawn for it.
struct Drawn {
  Adjust adjust = nullptr;  // null: leave the image as it is
  double factor = 1;
};

Drawn DrawFactor(RandomGenerator& random, double range, Adjust adjust) {
  if (range == 0) return {};
  return {adjust, internal::Uniform(random, {std::max(0.0, 1 - range), 1 + range})};
}

}  // namespace

Transform AdjustBrightness(Real factor) {
  return ByFactor(factor, internal::CheckedImage, internal::Brightness, "adjust_brightness");
}

Transform AdjustContrast(Real factor) {
  return ByFactor(factor, internal::CheckedColors, internal::Contrast, "adjust_contrast");
}

Transform AdjustSaturation(Real factor) {
  return ByFactor(factor, internal::CheckedColors, internal::Saturation, "adjust_saturation");
}

Transform AdjustHue(Real turn) {
  const char* const who = "adjust_hue";
  RequireTurn(turn, -0.5, "turn", who);
  return [=](const Tensor& image, RandomGenerator&) {
    return internal::Hue(internal::CheckedColors(image, who), turn, who);
  };
}

Transform AdjustSharpness(Real factor) {
  return ByFactor(factor, internal::CheckedImage, internal::Sharpness, "adjust_sharpness");
}

Transform ColorJitter(const ColorJitterOptions& options) {
  const char* const who = "color_jitter";
  internal::RequireNotNegative(options.brightness, "brightness", who);
  internal::RequireNotNegative(options.contrast, "contrast", who);
  internal::RequireNotNegative(options.saturation, "saturation", who);
  RequireTurn(options.hue, 0, "hue", who);
  return [options, who](const Tensor& given, RandomGenerator& random) {
    Tensor image = internal::CheckedColors(given, who);
    Drawn drawn[] = {DrawFactor(random, options.brightness, internal::Brightness),
                     DrawFactor(random, options.contrast, internal::Contrast),
                     DrawFactor(random, options.saturation, internal::Saturation),
                     {}};
    if (options.hue != 0) {
      drawn[3] = {internal::Hue, internal::Uniform(random, {-options.hue, options.hue})};
    }
    for (int64_t i = 3; i > 0; --i) std::swap(drawn[i], drawn[internal::Below(random, i + 1)]);
    for (const Drawn& d : drawn) {
      if (d.adjust != nullptr) image = d.adjust(image, d.factor, who);
    }
    return image;
  };
}

Transform Grayscale(const GrayscaleOptions& options) {
  const char* const who = "grayscale";
  if (options.channels != 1 && options.channels != 3) {
    RaiseStatus(InvalidArgument("channels is ", options.channels, " (want 1 or 3)"), who);
  }
  return [channels = options.channels, who](const Tensor& image, RandomGenerator&) {
    return internal::Grey(internal::CheckedColors(image, who), channels, who);
  };
}

Transform RandomGrayscale(const RandomGrayscaleOptions& options) {
  const char* const who = "random_grayscale";
  internal::RequireProbability(options.p, who);
  return [p = options.p, who](const Tensor& image, RandomGenerator& random) {
    Tensor from = internal::CheckedColors(image, who);
    return internal::Chance(random, p) ? internal::Grey(from, from.size(0), who) : from;
  };
}

}  // namespace firn::io
