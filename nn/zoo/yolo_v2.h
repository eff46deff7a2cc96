#ifndef FIRN_NN_ZOO_YOLO_V2_H_
#define FIRN_NN_ZOO_YOLO_V2_H_

// Redmon and Farhadi, "YOLO9000: better, faster, stronger", 2016: YOLO v2 on Darknet-19.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/module_list.h"
#include "firn/nn/zoo/conv_norm.h"
#include "firn/nn/zoo/detection.h"
#include "firn/nn/zoo/network.h"
#include "firn/nn/zoo/option_rows.h"

namespace firn::zoo {

struct YoloV2Options {
  int64_t classes = 80;
  // Widths and heights, in cells of 32 pixels: those for COCO.
  std::vector<std::array<double, 2>> anchors = {{0.57273, 0.677385},
                                                {1.87446, 2.06253},
                                                {3.33843, 5.47434},
                                                {7.88282, 3.52778},
                                                {9.77052, 9.16828}};
  template <class V>
  void Visit(V& v) {
    v.Field("classes", classes);
    VisitRows(v, "anchors", anchors);
  }
};

// The network's raw predictions for h w / 32^2 cells, by row, column and anchor: x, y, width,
// height, objectness and a number for each class.
//
// x: [n, 3, h, w] with sides that 32 divides      y: [n, h w anchors / 32^2, 5 + classes]
//
// Children: darknet.0 to darknet.17, head.0, head.1, passthrough, merge, predict; all but the last
// with a convolution 0 and a norm 1.
class YoloV2 final : public nn::LayerWithOptions<YoloV2Options> {
 public:
  // Throws without anchors.
  explicit YoloV2(const Options& options = {});

  // The boxes from the network's predictions for images of that size.
  ScoredBoxes Boxes(const Tensor& predicted, int64_t height, int64_t width) const;

 protected:
  // Throws for sides that 32 does not divide.
  Tensor Forward(const Tensor& x) override;

 private:
  nn::ModuleList<ConvNorm>& darknet_;
  nn::ModuleList<ConvNorm>& head_;
  ConvNorm& passthrough_;
  ConvNorm& merge_;
  nn::Conv2d& predict_;
};

// Options of "yolo_v2" (COCO) and "yolo_v2_voc". Throws for another name.
YoloV2Options YoloV2Of(const std::string& name, const Options& options = {});

std::vector<Network> YoloV2Networks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_YOLO_V2_H_
