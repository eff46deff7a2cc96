#ifndef FIRN_TENSOR_OPS_VISION_RESIZE_H_
#define FIRN_TENSOR_OPS_VISION_RESIZE_H_

#include <cstdint>
#include <vector>

#include "firn/device/enum_words.h"
#include "firn/tensor/dim_list.h"
#include "firn/tensor/tensor.h"

namespace firn {

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };
constexpr auto WordsOf(ResizeMode) {
  return inner::EnumWords<ResizeMode>({{ResizeMode::kNearest, "nearest"},
                                       {ResizeMode::kLinear, "linear"},
                                       {ResizeMode::kCubic, "cubic"}});
}

// The place in x, of n elements, of element i of a result of m, with s = m / n or the scale given.
enum class ResizeCoordinates : uint8_t {
  kHalfPixel,           // (i + 0.5) / s - 0.5
  kHalfPixelSymmetric,  // the same moved by n / 2 (1 - m / (s n)), about the middle
  kPytorchHalfPixel,    // as kHalfPixel, but 0 for m = 1
  kAlignCorners,        // i (n - 1) / (s n - 1), 0 for m = 1; s n is m where f32 would say so
  kAsymmetric,          // i / s
  kCropAndResize,       // (start + i (end - start) / (m - 1)) (n - 1), of m = 1 the middle
};
constexpr auto WordsOf(ResizeCoordinates) {
  return inner::EnumWords<ResizeCoordinates>(
      {{ResizeCoordinates::kHalfPixel, "half_pixel"},
       {ResizeCoordinates::kHalfPixelSymmetric, "half_pixel_symmetric"},
       {ResizeCoordinates::kPytorchHalfPixel, "pytorch_half_pixel"},
       {ResizeCoordinates::kAlignCorners, "align_corners"},
       {ResizeCoordinates::kAsymmetric, "asymmetric"},
       {ResizeCoordinates::kCropAndResize, "tf_crop_and_resize"}});
}

// Which element is the nearest to a place.
enum class ResizeNearest : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
constexpr auto WordsOf(ResizeNearest) {
  return inner::EnumWords<ResizeNearest>({{ResizeNearest::kRoundPreferFloor, "round_prefer_floor"},
                                          {ResizeNearest::kRoundPreferCeil, "round_prefer_ceil"},
                                          {ResizeNearest::kFloor, "floor"},
                                          {ResizeNearest::kCeil, "ceil"}});
}

struct ResizeOptions {
  // One of the two, a number for each of `dims`. By scales the size is rounded down.
  std::vector<int64_t> sizes = {};
  std::vector<double> scales = {};
  DimList dims = {};  // none: all
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeNearest nearest = ResizeNearest::kRoundPreferFloor;
  double cubic_a = -0.75;
  bool exclude_outside = false;    // elements beyond the edges weigh nothing, the others more
  double extrapolation_value = 0;  // of places outside of x; kCropAndResize alone
  std::vector<double> roi = {};    // its starts, then its ends: x is from 0 to 1
  bool antialias = false;          // linear and cubic windows widen by 1 / s where s < 1
};

// ONNX's Resize (operator set 19, and 18 by way of dims): x at other sizes of some dimensions, one
// after the other. Beyond the edges lies the element at the edge unless exclude_outside says
// otherwise; of antialiased windows too.
// x: any dtype, or floating unless the mode is nearest. Half types compute in f32.
// y: sizes, or floor(x's size * scale), of kCropAndResize floor(x's size * (end - start) * scale)
// Differentiable any number of times. Throws unless one of sizes and scales is given for each
// dimension and gives sizes of 1 to 2^24 of 1 or more, on numbers that are not finite, and on a roi
// that is missing or not wanted. An antialiased dimension may have 2^27 elements of x in the
// windows of its result.
Tensor Resize(const Tensor& x, const ResizeOptions& options);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_RESIZE_H_
