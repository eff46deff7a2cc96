#ifndef FIRN_NN_ZOO_SSDLITE_H_
#define FIRN_NN_ZOO_SSDLITE_H_

// SSDLite on MobileNet v3 (Liu et al., "SSD: single shot multibox detector", 2015; Sandler et al.,
// "MobileNetV2", 2018; Howard et al., "Searching for MobileNetV3", 2019). Names and shapes are
// torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/module_list.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/detection.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct SsdliteOptions {
  int64_t classes = 91;  // the first one is the background
  template <class V>
  void Visit(V& v) {
    v.Field("classes", classes);
  }
};

// The six grids of features: MobileNet v3 up to the expansion of its last stage, its end, and four
// more of half the size each.
// Children: features.0, features.1, extra.0 to extra.3.
class SsdliteBackbone final : public nn::Module {
 public:
  SsdliteBackbone();

  // x: [n, 3, h, w]      y: six of [n, channels, ..], of which the first is 1/16 of the image.
  std::vector<Tensor> Features(const Tensor& x);

 private:
  nn::ModuleList<nn::Sequential>& features_;
  nn::ModuleList<nn::Sequential>& extra_;
};

// The predictions for each grid: `numbers` for each of its six boxes. Children: module_list.0 to
// module_list.5.
class SsdliteHead final : public nn::Module {
 public:
  explicit SsdliteHead(int64_t numbers);

  // y: [n, boxes, numbers], by grid, row, column and box.
  Tensor Predict(const std::vector<Tensor>& features);

 private:
  nn::ModuleList<nn::Sequential>& module_list_;
};

// The network's raw predictions for 6 boxes in each place of six grids: how the middle and the size
// of the box differ from the default one's, and a number for each class. x: [n, 3, h, w] y: [n,
// boxes, 4 + classes], 3234 boxes of 320x320 pixels Children: backbone, head.classification_head,
// head.regression_head.
class Ssdlite final : public nn::LayerWithOptions<SsdliteOptions> {
 public:
  explicit Ssdlite(const Options& options = {});

  // The boxes from the network's predictions for images of that size; scores leave out the
  // background, so that class 0 is the network's class 1. Throws for another number of boxes.
  ScoredBoxes Boxes(const Tensor& predicted, int64_t height, int64_t width) const;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  struct Heads;

  SsdliteBackbone& backbone_;
  Heads& head_;
};

// Options of "ssdlite320_mobilenet_v3_large". Throws for another name.
SsdliteOptions SsdliteOf(const std::string& name, const Options& options = {});

std::vector<Network> SsdliteNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_SSDLITE_H_
