#ifndef FIRN_TENSOR_OPS_VISION_BOXES_H_
#define FIRN_TENSOR_OPS_VISION_BOXES_H_

#include "firn/tensor/tensor.h"

namespace firn {

// The intersection over union (Jaccard index) of each box of `a` with each of `b`, as torchvision's
// box_iou. A box is x1, y1, x2, y2; one whose second corner lies above or left of its first has no
// area, and boxes without area have 0 with any other, and so have boxes with infinite or NaN
// numbers. Half types compute in f32.
// a: [n, 4]      b: [m, 4], both floating and of one dtype      y: [n, m]
// Throws on other shapes and dtypes.
Tensor BoxIou(const Tensor& a, const Tensor& b);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_BOXES_H_
