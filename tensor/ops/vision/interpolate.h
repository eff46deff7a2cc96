#ifndef FIRN_TENSOR_OPS_VISION_INTERPOLATE_H_
#define FIRN_TENSOR_OPS_VISION_INTERPOLATE_H_

#include <cstdint>
#include <vector>

#include "firn/device/enum_words.h"
#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

// How new elements are computed from those around.
enum class InterpolateMode : uint8_t {
  kNearest,  // of the element at floor(i scale), as PyTorch's "nearest" and OpenCV's INTER_NEAREST
  kNearestExact,  // of the element whose middle is nearest: floor((i + 0.5) scale)
  kLinear,        // linear, bilinear, trilinear
  kCubic,         // bicubic (Keys, 1981) with a = -0.75, of antialiased ones -0.5
  kArea,          // means, as AdaptiveAvgPool
};
constexpr auto WordsOf(InterpolateMode) {
  return inner::EnumWords<InterpolateMode>({{InterpolateMode::kNearest, "nearest"},
                                            {InterpolateMode::kNearestExact, "nearest-exact"},
                                            {InterpolateMode::kLinear, "linear"},
                                            {InterpolateMode::kCubic, "cubic"},
                                            {InterpolateMode::kArea, "area"}});
}

struct InterpolateOptions {
  Sizes size = {};  // of the result; or, instead,
  // how many times as large the result is, rounded down: one number, or one for each dimension.
  std::vector<double> scale_factor = {};
  InterpolateMode mode = InterpolateMode::kNearest;
  // Linear and cubic: the middles of the first and the last element stay where they are, instead of
  // the outer edges.
  bool align_corners = false;
  bool antialias = false;  // linear and cubic: wider filters where the result is smaller
  template <class V>
  void Visit(V& v) {
    v.Field("size", size);
    v.Field("scale_factor", scale_factor);
    v.Field("mode", mode);
    v.Field("align_corners", align_corners);
    v.Field("antialias", antialias);
  }
};

// x at another size, as PyTorch's interpolate: every mode in one, two or three dimensions. A
// scale_factor is also what places are computed by, as there. x: [n, c, w], [n, c, h, w] or
// [n, c, d, h, w], floating; other dtypes too by the nearest modes. Half types compute in f32.
// Throws on other ranks, unless one of size and scale_factor is given, and on sizes below 1.
Tensor Interpolate(const Tensor& x, const InterpolateOptions& options);

namespace inner {
// One dimension of it: output o is a weighted mean of a few elements of x near each other.
struct ResampleAttrs {
  int64_t dim = 0, in = 1, out = 1;
  InterpolateMode mode = InterpolateMode::kNearest;
  bool align_corners = false, antialias = false;
  double scale = 0;  // the elements of x that one of the result is wide; 0: as the sizes say
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("in", in);
    v.Field("out", out);
    v.Field("mode", mode);
    v.Field("align_corners", align_corners);
    v.Field("antialias", antialias);
    v.Field("scale", scale);
  }
};
Tensor Resample(const Tensor& x, const ResampleAttrs& attrs);
// Its adjoint: every element of dy is added, weighted, to the elements that it was made of.
Tensor ResampleGrad(const Tensor& dy, const ResampleAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_INTERPOLATE_H_
