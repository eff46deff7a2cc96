#ifndef FIRN_NN_ZOO_YOLO_V3_H_
#define FIRN_NN_ZOO_YOLO_V3_H_

// Redmon and Farhadi, "YOLOv3: an incremental improvement", 2018, on Darknet-53.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/module_list.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/conv_norm.h"
#include "firn/nn/zoo/detection.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

// y = x + conv2(conv1(x)), of 1x1 to half as many channels and of 3x3.
// x, y: [n, channels, h, w]
class DarknetUnit final : public nn::LayerWithOptions<nn::ConvOptions> {
 public:
  // `options.in` are the channels.
  explicit DarknetUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  ConvNorm &conv1_, &conv2_;
};

struct YoloV3HeadOptions {
  int64_t in = 1024;       // channels
  int64_t channels = 512;  // that the head hands on
  int64_t predicted = 255;
};

// Five convolutions in turn of 1x1 and 3x3, and predictions from their result. x: [n, in, h, w] y:
// [n, predicted, h, w] Children: convs.0 to convs.4, out, predict.
class YoloV3Head final : public nn::LayerWithOptions<YoloV3HeadOptions> {
 public:
  explicit YoloV3Head(const Options& options);

  // The result of the five convolutions: [n, channels, h, w].
  Tensor Features(const Tensor& x) { return convs_(x); }
  Tensor Predict(const Tensor& features) { return predict_(out_(features)); }

 protected:
  Tensor Forward(const Tensor& x) override { return Predict(Features(x)); }

 private:
  nn::Sequential& convs_;
  ConvNorm& out_;
  nn::Conv2d& predict_;
};

struct YoloV3Options {
  int64_t classes = 80;
  // Grids with cells of 32, 16 and 8 pixels, with the anchors for COCO.
  std::vector<YoloGrid> grids = {{32, {{116, 90}, {156, 198}, {373, 326}}},
                                 {16, {{30, 61}, {62, 45}, {59, 119}}},
                                 {8, {{10, 13}, {16, 30}, {33, 23}}}};
  template <class V>
  void Visit(V& v) {
    v.Field("classes", classes);
    VisitGrids(v, grids);
  }
};

// The network's raw predictions for the cells of three grids, the coarsest first, by row, column
// and anchor: x, y, width, height, objectness and a number for each class. x: [n, 3, h, w] with
// sides that 32 divides y: [n, boxes, 5 + classes] Children: stem, stages.0.0 ..., heads.0 to
// heads.2, laterals.0, laterals.1.
class YoloV3 final : public nn::LayerWithOptions<YoloV3Options> {
 public:
  // Throws unless there are three grids with cells of 32, 16 and 8 pixels and anchors.
  explicit YoloV3(const Options& options = {});

  // The boxes from the network's predictions for images of that size.
  ScoredBoxes Boxes(const Tensor& predicted, int64_t height, int64_t width) const;

 protected:
  // Throws for sides that 32 does not divide.
  Tensor Forward(const Tensor& x) override;

 private:
  ConvNorm& stem_;
  nn::ModuleList<nn::Sequential>& stages_;
  nn::ModuleList<YoloV3Head>& heads_;
  nn::ModuleList<ConvNorm>& laterals_;
};

// Options of "yolo_v3". Throws for another name.
YoloV3Options YoloV3Of(const std::string& name, const Options& options = {});

std::vector<Network> YoloV3Networks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_YOLO_V3_H_
