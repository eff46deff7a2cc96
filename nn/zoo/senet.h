#ifndef FIRN_NN_ZOO_SENET_H_
#define FIRN_NN_ZOO_SENET_H_

// Hu et al., "Squeeze-and-excitation networks", 2017: residual networks whose units weigh their
// channels. Names and strides are those of the authors' Caffe models as PyTorch's collections have
// them (pretrainedmodels, timm's legacy_seresnet50).

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/conv_norm.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct SenetUnitOptions {
  int64_t in = 64, width = 64;  // channels of the input; inside of the branch
  int64_t stride = 1;           // of the first convolution
  int64_t reduction = 16;       // the gate's channels are so many times fewer
  int64_t out() const { return 4 * width; }
};

// y = relu(gate(branch(x)) + shortcut(x)), the branch convolutions of 1x1, 3x3 and 1x1.
// x: [n, in, h, w]      y: [n, out, ceil(h / stride), ceil(w / stride)]
// Children: conv1, bn1, conv2, bn2, conv3, bn3, se_module; downsample.0, downsample.1.
class SenetUnit final : public nn::LayerWithOptions<SenetUnitOptions> {
 public:
  explicit SenetUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  void AddConv(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1);

  std::vector<nn::Conv2d*> convs_;
  std::vector<nn::BatchNorm2d*> norms_;
  SqueezeExcitation& gate_;
  nn::Sequential* downsample_ = nullptr;  // null where the shortcut is the identity
};

struct SenetOptions {
  std::vector<int64_t> units = {3, 4, 6, 3};
  int64_t classes = 1000;
  template <class V>
  void Visit(V& v) {
    v.Always("units", units);
    v.Field("classes", classes);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: layer0.conv1, layer0.bn1, layer1.0 ... layer4.n, last_linear.
class Senet final : public nn::LayerWithOptions<SenetOptions> {
 public:
  // Throws unless `units` are four positive numbers.
  explicit Senet(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& stem_;
  std::vector<nn::ModuleList<SenetUnit>*> layers_;
  nn::Linear& last_linear_;
};

// Options of "se_resnet50". Throws for another name.
SenetOptions SenetOf(const std::string& name, const Options& options = {});

std::vector<Network> SenetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_SENET_H_
