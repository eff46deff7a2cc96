// The table of torchvision's RandAugment._augmentation_space and _apply_op. Moves and shears are
// around the upper left corner there, turns around the middle.
#include "firn/io/data/transforms/rand_augment.h"

#include <cmath>
#include <iterator>

#include "firn/device/status_macros.h"
#include "firn/io/data/transforms/internal/adjust.h"
#include "firn/io/data/transforms/internal/draw.h"
#include "firn/io/data/transforms/internal/image.h"
#include "firn/io/data/transforms/internal/warp.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

constexpr char kWho[] = "rand_augment";

struct Call {
  const Tensor& image;
  double m;  // -1 to 1, or 0 to 1
  const RandAugmentOptions& options;
  internal::Scene* scene;
};

Tensor Warped(const Call& call, AffineOptions affine) {
  affine.interpolation = call.options.interpolation;
  affine.fill = call.options.fill;
  affine.center = Point{0, 0};
  return internal::WarpAffine(call.image, affine, call.scene, kWho);
}

double ShearDegrees(double m) { return std::atan(0.3 * m) * (180 / 3.141592653589793); }

// Whole pixels, cut off.
double Move(const Call& call, int side) {
  return std::trunc(150.0 / 331.0 * static_cast<double>(call.image.size(side)) * call.m);
}

using Adjust = Tensor (*)(const Tensor& image, double factor, const char* who);
template <Adjust adjust>
Tensor Adjusted(const Call& call) {
  return adjust(call.image, 1 + 0.9 * call.m, kWho);
}

struct Operation {
  bool either_way;
  Tensor (*run)(const Call& call);
};

constexpr Operation kOperations[] = {
    {false, [](const Call& c) { return c.image; }},
    {true, [](const Call& c) { return Warped(c, {.shear_x = ShearDegrees(c.m)}); }},
    {true, [](const Call& c) { return Warped(c, {.shear_y = ShearDegrees(c.m)}); }},
    {true, [](const Call& c) { return Warped(c, {.translate_x = Move(c, 2)}); }},
    {true, [](const Call& c) { return Warped(c, {.translate_y = Move(c, 1)}); }},
    {true,
     [](const Call& c) {
       return internal::WarpRotation(
           c.image,
           {.degrees = 30 * c.m, .interpolation = c.options.interpolation, .fill = c.options.fill},
           c.scene, kWho);
     }},
    {true, Adjusted<internal::Brightness>},
    {true, Adjusted<internal::Saturation>},
    {true, Adjusted<internal::Contrast>},
    {true, Adjusted<internal::Sharpness>},
    {false,
     [](const Call& c) {
       return internal::Posterized(c.image, 8 - static_cast<int>(std::nearbyint(4 * c.m)), kWho);
     }},
    {false, [](const Call& c) { return internal::Solarized(c.image, 255 * (1 - c.m), kWho); }},
    {false, [](const Call& c) { return internal::AutoContrasted(c.image, kWho); }},
    {false, [](const Call& c) { return internal::Equalized(c.image, kWho); }},
};

void Check(const RandAugmentOptions& options) {
  internal::RequireWarpable(options.interpolation, kWho);
  if (options.operations < 0) {
    RaiseStatus(InvalidArgument("operations is ", options.operations, " (want >= 0)"), kWho);
  }
  if (options.bins < 2) {
    RaiseStatus(InvalidArgument("bins is ", options.bins, " (want >= 2)"), kWho);
  }
  if (options.magnitude < 0 || options.magnitude >= options.bins) {
    RaiseStatus(
        InvalidArgument("magnitude is ", options.magnitude, " (want 0 to ", options.bins - 1, ")"),
        kWho);
  }
  if (!(options.fill >= 0 && options.fill <= 255)) {
    RaiseStatus(InvalidArgument("fill is ", options.fill, " (want 0 to 255)"), kWho);
  }
}

}  // namespace

Transform RandAugment(const RandAugmentOptions& options) {
  Check(options);
  const double m = static_cast<double>(options.magnitude) / static_cast<double>(options.bins - 1);
  return [options, m](const Tensor& given, RandomGenerator& random, internal::Scene* scene) {
    internal::CheckedBytes(given, kWho);
    Tensor image = internal::CheckedColors(given, kWho);
    for (int64_t i = 0; i < options.operations; ++i) {
      const Operation& operation =
          kOperations[internal::Below(random, static_cast<int64_t>(std::size(kOperations)))];
      const bool other_way = operation.either_way && internal::Chance(random, 0.5);
      image = operation.run({image, other_way ? -m : m, options, scene});
    }
    return image;
  };
}

}  // namespace firn::io
