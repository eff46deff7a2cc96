#ifndef FIRN_TENSOR_OPS_VISION_ROI_ALIGN_H_
#define FIRN_TENSOR_OPS_VISION_ROI_ALIGN_H_

#include <cstdint>

#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct RoiAlignOptions {
  double spatial_scale = 1;  // from the boxes' units to x's elements
  // Samples along each side of a bin, up to 1024; 0 or less: one for each element of x that the bin
  // covers, at most 1024.
  int64_t sampling_ratio = -1;
  bool aligned = false;  // boxes are moved by half an element, and may be smaller than one
};

// The means of bilinear samples in the bins of boxes (He et al., 2017), as torchvision's roi_align.
// A sample more than one element outside of x is 0; a box whose first number is no index of a
// sample of x gives zeros, as does one that is upside down with `aligned` and no sampling_ratio.
// x: [n, c, h, w], floating      boxes: [k, 5], of x's dtype: sample of x, x1, y1, x2, y2
// y: [k, c, output_size]
// Half types compute in f32. Boxes get no gradient. A scale for each dimension is left to the
// caller, who multiplies the boxes. Throws on other shapes, dtypes and options.
Tensor RoiAlign(const Tensor& x, const Tensor& boxes, const Sizes& output_size,
                const RoiAlignOptions& options = {});

namespace inner {
struct RoiAlignAttrs {
  Sizes output_size = 1;
  double spatial_scale = 1;
  int64_t sampling_ratio = -1;
  bool aligned = false;
  template <class V>
  void Visit(V& v) {
    v.Field("output_size", output_size);
    v.Field("spatial_scale", spatial_scale);
    v.Field("sampling_ratio", sampling_ratio);
    v.Field("aligned", aligned);
  }
};

struct RoiAlignGradAttrs : RoiAlignAttrs {
  Dims x;  // its shape
  template <class V>
  void Visit(V& v) {
    RoiAlignAttrs::Visit(v);
    v.Field("x", x);
  }
};

// The gradient to x, linear in dy.
Tensor RoiAlignGrad(const Tensor& dy, const Tensor& boxes, const RoiAlignGradAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_ROI_ALIGN_H_
