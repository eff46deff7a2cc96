#ifndef FIRN_NN_ZOO_EFFICIENTNET_H_
#define FIRN_NN_ZOO_EFFICIENTNET_H_

// Tan and Le, "EfficientNet: rethinking model scaling for convolutional neural networks", 2019, and
// "EfficientNetV2: smaller models and faster training", 2021. Names and shapes are torchvision's.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"
#include "firn/nn/zoo/option_rows.h"

namespace firn::zoo {

// Units of equal size; see zoo/inverted_residual.h. A description tells a stage's numbers in this
// order.
struct EfficientnetStage {
  int64_t expansion = 1;  // times the channels of a unit's input
  int64_t kernel = 3;
  int64_t stride = 1;  // of the first unit
  int64_t channels = 16;
  int64_t units = 1;
  bool fused = false;  // without squeeze-and-excitation
};

struct EfficientnetOptions {
  std::vector<EfficientnetStage> stages = {{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2},
                                           {6, 3, 2, 80, 3}, {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4},
                                           {6, 3, 1, 320, 1}};
  int64_t stem = 32;  // channels of the first convolution
  int64_t last = 0;   // of the last one; 0: four times those of the last stage
  double width = 1;   // times all channels, which are rounded to multiples of 8
  double depth = 1;   // times the numbers of units, which are rounded up
  int64_t classes = 1000;
  double dropout = 0.2;
  // The probability with which the last unit's branch is left out in training. Those of the units
  // before it grow evenly from 0.
  double stochastic_depth = 0.2;
  double eps = 1e-5, momentum = 0.1;  // of the norms
  template <class V>
  void Visit(V& v) {
    std::vector<std::array<int64_t, 6>> rows;
    for (const EfficientnetStage& s : stages)
      rows.push_back({s.expansion, s.kernel, s.stride, s.channels, s.units, s.fused});
    VisitRows(v, "stages", rows);
    stages.clear();
    for (const auto& r : rows) stages.push_back({r[0], r[1], r[2], r[3], r[4], r[5] != 0});
    v.Field("stem", stem);
    v.Field("last", last);
    v.Field("width", width);
    v.Field("depth", depth);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
    v.Field("stochastic_depth", stochastic_depth);
    v.Field("eps", eps);
    v.Field("momentum", momentum);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: features.0, features.1.0 ..., features.8, classifier.1.
class Efficientnet final : public nn::LayerWithOptions<EfficientnetOptions> {
 public:
  // Throws unless width and depth are positive and there are stages.
  explicit Efficientnet(const Options& options = {});

  // The result of `features`: 1/32 of the image's size.
  Tensor Features(const Tensor& x) { return features_(x); }

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& features_;
  nn::Sequential& classifier_;
};

// Options of "efficientnet_b0" ... "efficientnet_b7" or "efficientnet_v2_m". Throws for another
// name.
EfficientnetOptions EfficientnetOf(const std::string& name, const Options& options = {});

std::vector<Network> EfficientnetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_EFFICIENTNET_H_
