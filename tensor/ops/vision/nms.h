#ifndef FIRN_TENSOR_OPS_VISION_NMS_H_
#define FIRN_TENSOR_OPS_VISION_NMS_H_

#include <cstdint>
#include <optional>

#include "firn/tensor/tensor.h"

namespace firn {

// Non-maximum suppression, as torchvision's nms: goes through the boxes by falling score, and keeps
// each whose intersection over union with every box kept before is `iou_threshold` at most.
// boxes: [n, 4], floating: x1, y1, x2, y2; one upside down overlaps nothing, nor does one of
// numbers
//   that are none or infinite
// scores: [n], floating; boxes whose score is not a number are never kept
// y: i64 [kept], indices by falling score, of equal ones the first first
// Not differentiable; how many are kept is read on the host: an error during capture. Throws on
// other shapes, and on a threshold outside [0, 1]. Boxes that few others overlap take little time
// each, however many there are; a device compares each with all that are kept, on one thread.
Tensor Nms(const Tensor& boxes, const Tensor& scores, inner::Real iou_threshold);

// The same within each class alone, as torchvision's batched_nms. classes: i64 [n], any numbers
Tensor BatchedNms(const Tensor& boxes, const Tensor& scores, const Tensor& classes,
                  inner::Real iou_threshold);

struct NonMaxSuppressionOptions {
  int64_t max_per_class = 0;  // boxes kept of each class of each image
  double iou_threshold = 0;
  std::optional<double> score_threshold = {};  // boxes with scores above it are kept alone
  bool center_box = false;                     // boxes are x, y of the middle, width, height
};

// ONNX's NonMaxSuppression: Nms in each class of each image.
// boxes: [images, n, 4], floating: y1, x1, y2, x2 of any two opposite corners
// scores: [images, classes, n], of boxes' dtype
// y: i64 [kept, 3]: image, class and box, by image and class, in these by falling score
// max_per_class = 0 keeps nothing, as the standard says. Everything else is as for Nms.
Tensor NonMaxSuppression(const Tensor& boxes, const Tensor& scores,
                         const NonMaxSuppressionOptions& options = {});

struct NmsDetection2dOptions {
  double threshold = 0.5;  // probabilities below become 0
  double nms = 0.45;       // the intersection over union above which the lesser box is suppressed
  bool per_class = true;
};

// What YOLO detects, its lesser boxes suppressed (NNabla's nms_detection2d): the boxes as they are,
// and behind them objectness and its products with the probabilities of classes, 0 where below
// `threshold` or suppressed. With `per_class` a box is suppressed in a class, by boxes with a
// larger product that are not suppressed there; otherwise in all classes, its objectness too, by
// any box with a larger objectness. Probabilities that are not numbers become 0.
// x, y: [images, n, 5 + classes], floating: x, y of the middle, width, height, objectness, classes
// Half types compute in f32. Not differentiable. Throws on other shapes and thresholds outside
// [0, 1].
Tensor NmsDetection2d(const Tensor& x, const NmsDetection2dOptions& options = {});

namespace inner {
struct NmsMaskAttrs {
  double iou_threshold = 0.5;
  bool by_kept = true;  // boxes that are suppressed suppress none
  template <class V>
  void Visit(V& v) {
    v.Field("iou_threshold", iou_threshold);
    v.Field("by_kept", by_kept);
  }
};

// Which candidates are kept of boxes that stand in falling order: all but those that a candidate
// before them (of the same group) overlaps by more than the threshold. A box that is not a
// candidate is neither kept nor suppresses others.
// boxes: [.., n, 4]: x1, y1, x2, y2      candidates: bool [.., n]      groups: i64 [.., n] or none
Tensor NmsMask(const Tensor& boxes, const Tensor& candidates, const Tensor& groups,
               const NmsMaskAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_VISION_NMS_H_
