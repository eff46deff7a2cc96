#ifndef FIRN_NN_ZOO_SENET_H_
#define FIRN_NN_ZOO_SENET_H_

// Hu et al., "Squeeze-and-excitation networks", 2017: residual networks whose units weigh their
// channels. Names and strides are those of the authors' Caffe models as PyTorch's collections have
// them (pretrainedmodels; timm's legacy_seresnet50 and legacy_senet154).

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/conv_norm.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct SenetUnitOptions {
  int64_t in = 64, width = 64;  // channels of the input; inside of the branch
  int64_t stride = 1;           // of the first convolution, with groups of the second one
  // Several: the unit of SENet-154, whose convolutions make 2, 4 and 4 times `width` channels. One:
  // that of a ResNet, 1, 1 and 4 times.
  int64_t groups = 1;
  int64_t shortcut_kernel = 1;  // of the convolution of `downsample`
  int64_t reduction = 16;       // the gate has this many times fewer channels
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
  void AddConv(const nn::ConvOptions& conv);

  std::vector<nn::Conv2d*> convs_;
  std::vector<nn::BatchNorm2d*> norms_;
  SqueezeExcitation& gate_;
  nn::Sequential* downsample_ = nullptr;  // null where the shortcut is the identity
};

struct SenetOptions {
  std::vector<int64_t> units = {3, 4, 6, 3};
  // Several, as of SENet-154: see SenetUnitOptions. Then the first layer is three convolutions of
  // 3x3, and shortcuts behind the first stage are 3x3, too.
  int64_t groups = 1;
  int64_t classes = 1000;
  double dropout = 0;
  template <class V>
  void Visit(V& v) {
    v.Always("units", units);
    v.Field("groups", groups);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: layer0.conv1, layer0.bn1 (with groups also conv2, bn2, conv3, bn3), layer1.0 ...
// layer4.n, dropout, last_linear.
class Senet final : public nn::LayerWithOptions<SenetOptions> {
 public:
  // Throws unless `units` are four positive numbers and `groups` is one that divides 128.
  explicit Senet(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& stem_;
  std::vector<nn::ModuleList<SenetUnit>*> layers_;
  nn::Dropout& dropout_;
  nn::Linear& last_linear_;
};

// Options of "se_resnet50" or "senet154". Throws for another name.
SenetOptions SenetOf(const std::string& name, const Options& options = {});

std::vector<Network> SenetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_SENET_H_
