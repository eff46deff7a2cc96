#ifndef FIRN_TENSOR_OPS_VISION_AUGMENT_H_
#define FIRN_TENSOR_OPS_VISION_AUGMENT_H_

#include <cstdint>
#include <vector>

#include "firn/device/enum_words.h"
#include "firn/tensor/dim_list.h"
#include "firn/tensor/rng.h"
#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Random changes of samples that are tensors already, on any device and in graphs, whose runs draw
// anew. The dimensions of x before `base_dim` count samples, each changed by itself. (Images on
// their way into a batch: io/data/transforms.) Numbers are drawn from `generator`, or from the
// default generator of x's device.

// A part of each sample of `shape`, the sizes of x's last dimensions; NNabla's random_crop. Every
// place is equally likely. The gradient goes back to where elements came from.
// x: any dtype      y: x's shape with its last sizes replaced
// Throws unless `shape` fits into x's dimensions from base_dim on.
Tensor RandomCrop(const Tensor& x, const Shape& shape, inner::Integer base_dim = 1,
                  RandomGenerator* generator = nullptr);

struct RandomFlipOptions {
  DimList dims = -1;
  int64_t base_dim = 1;
  double p = 0.5;
  RandomGenerator* generator = nullptr;
};

// Each of `dims` of each sample reversed with probability p; NNabla's random_flip. x: any dtype.
// Throws on dimensions before base_dim and on a p outside [0, 1].
Tensor RandomFlip(const Tensor& x, const RandomFlipOptions& options = {});

// The elements that come in where a sample was: its outermost elements, its mirror image (with
// them), a value.
enum class ShiftBorder : uint8_t { kNearest, kReflect, kConstant };
constexpr auto WordsOf(ShiftBorder) {
  return inner::EnumWords<ShiftBorder>({{ShiftBorder::kNearest, "nearest"},
                                        {ShiftBorder::kReflect, "reflect"},
                                        {ShiftBorder::kConstant, "constant"}});
}

struct RandomShiftOptions {
  ShiftBorder border = ShiftBorder::kNearest;
  double value = 0;  // of kConstant
  int64_t base_dim = 1;
  RandomGenerator* generator = nullptr;
};

// Each sample moved along its last dimensions by -s to s elements, each number equally likely, for
// the s of each dimension in `shifts`; NNabla's random_shift. x: any dtype. Throws on more shifts
// than dimensions from base_dim on, and on negative ones.
Tensor RandomShift(const Tensor& x, const std::vector<int64_t>& shifts,
                   const RandomShiftOptions& options = {});

struct RandomRange {
  double low = 0, high = 1;
};

struct RandomEraseOptions {
  double prob = 0.5;                    // of each rectangle
  RandomRange area = {0.02, 0.4};       // its share of the image, uniform
  RandomRange aspect = {0.3, 1 / 0.3};  // its height / width, uniform
  RandomRange value = {0, 255};         // of its elements, each drawn by itself
  int64_t n = 1;                        // rectangles
  bool share = true;                    // by all channels of a sample
  int64_t base_dim = 1;
  bool straight_through = false;  // the gradient goes on as if nothing were erased
  RandomGenerator* generator = nullptr;
};

// Rectangles of images, erased (Zhong et al., 2017), with the defaults of NNabla's random_erase:
// torchvision's RandomErasing has area 0.02 to 0.33 and value 0. A rectangle's sides are those of
// its area and aspect, rounded down and held to the image's; its place is uniform within the image.
// x: samples of [c, h, w], floating. The gradient is 0 in rectangles, or straight-through.
// Throws on other shapes and dtypes, a prob outside [0, 1], an n outside 0 to 1000, ranges that are
// empty or do not make sense.
Tensor RandomErase(const Tensor& x, const RandomEraseOptions& options = {});

struct ImageAugmentationOptions {
  Shape shape = {};                       // of the result, [h, w] or [c, h, w]; []: as x
  Sizes pad = 0;                          // around x, its outermost elements
  double min_scale = 1, max_scale = 1;    // uniform in its logarithm
  double angle = 0;                       // at most, either way, in radians
  double aspect_ratio = 1;                // width / height, from 1 / sqrt of it to its sqrt
  double distortion = 0;                  // of a lens: its logarithm at most, either way
  bool flip_lr = false, flip_ud = false;  // each with probability 1/2
  double brightness = 0;                  // added, at most, either way
  bool brightness_each = false;           // by channel
  double contrast = 1;                    // factors from 1 / contrast to it ...
  double contrast_center = 0;             // ... of the distance from here
  bool contrast_each = false;
  double noise = 0;  // the deviation of normal noise, at most
  RandomGenerator* generator = nullptr;
};

// Images moved, scaled, turned, distorted, and their brightness, contrast and noise changed, drawn
// for each sample: NNabla's image_augmentation with its options. In a scaled image a place is drawn
// from which the result is cut. Samples are bilinear, the outermost elements lie beyond the edges.
// NNabla defines no gradient; here none flows back.
// x: [n, c, h, w], floating      y: [n, c, shape's h, w]
// Half types compute in f32. Throws on other ranks, dtypes and options.
Tensor ImageAugmentation(const Tensor& x, const ImageAugmentationOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_AUGMENT_H_
