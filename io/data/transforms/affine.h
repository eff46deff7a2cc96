#ifndef FIRN_IO_DATA_TRANSFORMS_AFFINE_H_
#define FIRN_IO_DATA_TRANSFORMS_AFFINE_H_

#include <optional>

#include "firn/io/data/transforms/resize.h"
#include "firn/io/data/transforms/transform.h"

namespace firn::io {

// Turning, moving, scaling and shearing, as torchvision does with PIL images: a pixel of the result
// is looked up at the place where its middle came from, or is `fill` if that lies outside of the
// image. Between the middles of the outermost pixels and the border, kBilinear repeats those
// pixels. u8 results of kBilinear are rounded to the nearest (Pillow cuts off).

// A place in pixels, (0, 0) being the upper left corner of the image.
struct Point {
  double x = 0, y = 0;
};

struct RotateOptions {
  double degrees = 0;  // counter-clockwise
  Interpolation interpolation = Interpolation::kNearest;
  bool expand = false;               // make the result as large as the turned image needs
  std::optional<Point> center = {};  // by default the image's middle; not with `expand`
  double fill = 0;                   // in the image's own units
};

// Turns the image around its center. Throws unless the numbers are finite, and if `center` and
// `expand` are both given. With `expand` the transform throws if the result would have both more
// than 2^27 pixels and more than four times the image's.
Transform Rotate(const RotateOptions& options);

struct RandomRotationOptions {
  Interval degrees = {0, 0};  // torchvision's `degrees=d` is {-d, d}
  Interpolation interpolation = Interpolation::kNearest;
  bool expand = false;
  std::optional<Point> center = {};
  double fill = 0;
};

// Rotate by an angle out of an interval; torchvision's RandomRotation. Throws as Rotate.
Transform RandomRotation(const RandomRotationOptions& options);

struct AffineOptions {
  double degrees = 0;                       // clockwise, as torchvision's affine, and unlike Rotate
  double translate_x = 0, translate_y = 0;  // pixels
  double scale = 1;
  double shear_x = 0, shear_y = 0;  // degrees
  Interpolation interpolation = Interpolation::kNearest;
  std::optional<Point> center = {};  // by default the image's middle
  double fill = 0;
};

// Shears, turns and scales around the center, then moves: torchvision's functional.affine. Throws
// unless the numbers are finite, scale > 0 and the shears within -89 to 89.
Transform Affine(const AffineOptions& options);

struct RandomAffineOptions {
  Interval degrees = {0, 0};
  // Shares of the image's width and height; the move is uniform in -share to share of it, in whole
  // pixels.
  double translate_x = 0, translate_y = 0;
  Interval scale = {1, 1};
  Interval shear_x = {0, 0}, shear_y = {0, 0};  // degrees
  Interpolation interpolation = Interpolation::kNearest;
  std::optional<Point> center = {};
  double fill = 0;
};

// Affine with each number out of its interval; torchvision's RandomAffine. Throws unless the
// intervals are finite, the translations 0 to 1, scales positive and shears within -89 to 89.
Transform RandomAffine(const RandomAffineOptions& options);

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_AFFINE_H_
