// Checks and draws; internal/warp.cc computes.
#include "firn/io/data/transforms/affine.h"

#include <cmath>
#include <limits>
#include <optional>

#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/draw.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/io/data/transforms/internal/warp.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using internal::RequireFinite;
using internal::RequireInterval;

constexpr double kLowest = std::numeric_limits<double>::lowest();

void RequireCenter(const std::optional<Point>& center, const char* who) {
  if (!center.has_value()) return;
  RequireFinite(center->x, "center.x", who);
  RequireFinite(center->y, "center.y", who);
}

void RequirePositive(double value, const char* name, const char* who) {
  RequireFinite(value, name, who);
  if (value > 0) return;
  RaiseStatus(InvalidArgument(name, " is ", value, " (want a positive number)"), who);
}

void RequireShear(const Interval& shear, const char* name, const char* who) {
  RequireInterval(shear, kLowest, name, who);
  if (shear.low >= -89 && shear.high <= 89) return;
  RaiseStatus(
      InvalidArgument(name, " is ", shear.low, " to ", shear.high, " (want within -89 to 89)"),
      who);
}

void RequireShare(double share, const char* name, const char* who) {
  if (share >= 0 && share <= 1) return;
  RaiseStatus(InvalidArgument(name, " is ", share, " (want 0 to 1, of the image's side)"), who);
}

void CheckRotation(const RandomRotationOptions& options, const char* who) {
  RequireInterval(options.degrees, kLowest, "degrees", who);
  internal::RequireWarpable(options.interpolation, who);
  RequireFinite(options.fill, "fill", who);
  RequireCenter(options.center, who);
  if (options.center.has_value() && options.expand) {
    RaiseStatus(InvalidArgument("expected center or expand, got both"), who);
  }
}

Transform MakeRotation(const RandomRotationOptions& options, const char* who) {
  CheckRotation(options, who);
  return [options, who](const Tensor& image, RandomGenerator& random, internal::Scene* scene) {
    const Tensor from = internal::CheckedImage(image, who);
    return internal::WarpRotation(from,
                                  {.degrees = internal::Uniform(random, options.degrees),
                                   .interpolation = options.interpolation,
                                   .expand = options.expand,
                                   .center = options.center,
                                   .fill = options.fill},
                                  scene, who);
  };
}

// A whole number of pixels.
double Move(RandomGenerator& random, double share, int64_t side) {
  const double most = share * static_cast<double>(side);
  return std::nearbyint(internal::Uniform(random, {-most, most}));
}

}  // namespace

Transform Rotate(const RotateOptions& options) {
  return MakeRotation({.degrees = {options.degrees, options.degrees},
                       .interpolation = options.interpolation,
                       .expand = options.expand,
                       .center = options.center,
                       .fill = options.fill},
                      "rotate");
}

Transform RandomRotation(const RandomRotationOptions& options) {
  return MakeRotation(options, "random_rotation");
}

Transform Affine(const AffineOptions& options) {
  const char* const who = "affine";
  RequireFinite(options.degrees, "degrees", who);
  internal::RequireWarpable(options.interpolation, who);
  RequireFinite(options.translate_x, "translate_x", who);
  RequireFinite(options.translate_y, "translate_y", who);
  RequirePositive(options.scale, "scale", who);
  RequireShear({options.shear_x, options.shear_x}, "shear_x", who);
  RequireShear({options.shear_y, options.shear_y}, "shear_y", who);
  RequireFinite(options.fill, "fill", who);
  RequireCenter(options.center, who);
  return [options, who](const Tensor& image, RandomGenerator&, internal::Scene* scene) {
    return internal::WarpAffine(internal::CheckedImage(image, who), options, scene, who);
  };
}

Transform RandomAffine(const RandomAffineOptions& options) {
  const char* const who = "random_affine";
  RequireInterval(options.degrees, kLowest, "degrees", who);
  internal::RequireWarpable(options.interpolation, who);
  RequireShare(options.translate_x, "translate_x", who);
  RequireShare(options.translate_y, "translate_y", who);
  RequireInterval(options.scale, kLowest, "scale", who);
  RequirePositive(options.scale.low, "scale", who);
  RequireShear(options.shear_x, "shear_x", who);
  RequireShear(options.shear_y, "shear_y", who);
  RequireFinite(options.fill, "fill", who);
  RequireCenter(options.center, who);
  return [options, who](const Tensor& image, RandomGenerator& random, internal::Scene* scene) {
    const Tensor from = internal::CheckedImage(image, who);
    // Draws follow each other in the order of the names.
    const double degrees = internal::Uniform(random, options.degrees);
    const double x = Move(random, options.translate_x, from.size(2));
    const double y = Move(random, options.translate_y, from.size(1));
    const double scale = internal::Uniform(random, options.scale);
    const double shear_x = internal::Uniform(random, options.shear_x);
    const double shear_y = internal::Uniform(random, options.shear_y);
    return internal::WarpAffine(from,
                                {.degrees = degrees,
                                 .translate_x = x,
                                 .translate_y = y,
                                 .scale = scale,
                                 .shear_x = shear_x,
                                 .shear_y = shear_y,
                                 .interpolation = options.interpolation,
                                 .center = options.center,
                                 .fill = options.fill},
                                scene, who);
  };
}

}  // namespace firn::io
