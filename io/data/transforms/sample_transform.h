#ifndef FIRN_IO_DATA_TRANSFORMS_SAMPLE_TRANSFORM_H_
#define FIRN_IO_DATA_TRANSFORMS_SAMPLE_TRANSFORM_H_

// Transforms boxes and masks with their image:
//
//   io::DataLoader train(drawn, {.batch = 8,
//                                .transform = io::TransformSample(augment, {.boxes = "boxes",
//                                                                           .labels = {"labels"}}),
//                                .collate = io::PadTo({{.name = "boxes"}, {.name = "labels"}})});

#include <functional>
#include <string>
#include <vector>

#include "firn/io/data/sample.h"
#include "firn/io/data/transforms/transform.h"
#include "firn/tensor/rng.h"

namespace firn::io {

struct TransformSampleOptions {
  std::string image = "image";  // [channels, height, width]
  // f32 or f64 [n, 4] in pixels: x1, y1, x2, y2, as Nms takes them. "": there are none.
  std::string boxes = "";
  std::vector<std::string> masks = {};  // of any dtype, [..., height, width] as the image has them
  // Tensors with a row for each box; a row is left out with its box.
  std::vector<std::string> labels = {};
  // Boxes with a side below this many pixels afterwards are left out; 0 also keeps boxes that have
  // left the image.
  double least_side = 1;
};

// Applies a transform to a sample's image and moves boxes and masks with the pixels: flips, crops,
// resizing, rotations and RandAugment do so, also within Compose and RandomApply. Boxes become the
// smallest upright ones around the area they held, cut off at the border; masks take the nearest
// pixel, and 0 where pixels were added at the border. Colour transforms, and a program's own
// functions of an image, leave both as they are. The result is for DataLoaderOptions::transform.
// Throws unless least_side >= 0, and for labels without boxes; the function throws if a sample
// lacks a name or a tensor has another shape.
std::function<Sample(Sample sample, RandomGenerator& random)> TransformSample(
    Transform transform, const TransformSampleOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_SAMPLE_TRANSFORM_H_
