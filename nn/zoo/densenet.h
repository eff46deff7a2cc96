#ifndef FIRN_NN_ZOO_DENSENET_H_
#define FIRN_NN_ZOO_DENSENET_H_

// Huang et al., "Densely connected convolutional networks", 2016. Names and shapes are
// torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct DensenetUnitOptions {
  int64_t in = 64;      // channels
  int64_t growth = 32;  // channels that are added to them
  double dropout = 0;   // of the added channels
};

// x and, behind its channels, new ones that are computed from it:
// conv2(relu(norm2(conv1(relu(norm1(x)))))), whose inner convolution has four times as many
// channels as it adds. x: [n, in, h, w] y: [n, in + growth, h, w] Children: norm1, conv1, norm2,
// conv2.
class DensenetUnit final : public nn::LayerWithOptions<DensenetUnitOptions> {
 public:
  explicit DensenetUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::BatchNorm2d& norm1_;
  nn::Conv2d& conv1_;
  nn::BatchNorm2d& norm2_;
  nn::Conv2d& conv2_;
};

struct DensenetOptions {
  std::vector<int64_t> units = {6, 12, 24, 16};  // between the halvings of the image
  int64_t stem = 64;                             // channels of the first convolution
  int64_t growth = 32;                           // channels that each unit adds
  int64_t classes = 1000;
  double dropout = 0;  // of the channels that each unit adds
  template <class V>
  void Visit(V& v) {
    v.Always("units", units);
    v.Field("stem", stem);
    v.Field("growth", growth);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w] with h, w >= 29      y: [n, classes]
// Children: features.conv0, features.norm0, features.denseblock1.denselayer1 ...,
// features.transition1.norm, .conv, ..., features.norm5, classifier.
class Densenet final : public nn::LayerWithOptions<DensenetOptions> {
 public:
  // Throws unless there are units, all positive.
  explicit Densenet(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& features_;
  nn::Linear& classifier_;
};

// Options of "densenet121", "densenet161", "densenet169" or "densenet201". Throws for another name.
DensenetOptions DensenetOf(const std::string& name, const Options& options = {});

std::vector<Network> DensenetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_DENSENET_H_
