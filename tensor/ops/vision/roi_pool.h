#ifndef FIRN_TENSOR_OPS_VISION_ROI_POOL_H_
#define FIRN_TENSOR_OPS_VISION_ROI_POOL_H_

#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The maxima of x in the bins of boxes (Girshick, 2015), as torchvision's roi_pool: corners are
// scaled and rounded to elements, halves away from 0, and both belong to the box, which is one
// element large at least; bins may overlap by an element. A bin that lies outside of x gives 0, and
// so does a box whose first number is no index of a sample of x, or whose corners are no numbers.
// x: [n, c, h, w], floating      boxes: [k, 5], of x's dtype: sample of x, x1, y1, x2, y2
// y: [k, c, output_size]
// NaN is the maximum of a bin that has one. Half types compute in f32. Boxes get no gradient. A
// scale for each dimension is left to the caller, who multiplies the boxes. Throws on other shapes,
// dtypes and options.
Tensor RoiPool(const Tensor& x, const Tensor& boxes, const Sizes& output_size,
               inner::Real spatial_scale = 1);

namespace inner {
struct RoiPoolAttrs {
  Sizes output_size = 1;
  double spatial_scale = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("output_size", output_size);
    v.Field("spatial_scale", spatial_scale);
  }
};
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_ROI_POOL_H_
