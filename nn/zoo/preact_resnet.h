#ifndef FIRN_NN_ZOO_PREACT_RESNET_H_
#define FIRN_NN_ZOO_PREACT_RESNET_H_

// He et al., "Identity mappings in deep residual networks", 2016: norms and activations stand
// before the convolutions, so that only sums lie between the first unit and the last. Names are as
// those of nn/zoo/resnet.h.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct PreactUnitOptions {
  int64_t in = 64, width = 64;  // channels of the input; of the first convolution
  int64_t stride = 1;           // of the convolution of 3x3 that may have one
  bool bottleneck = false;      // 1x1, 3x3 and 1x1 to four times as many channels, not twice 3x3
  bool first = false;           // x has gone through a norm and relu
  int64_t out() const { return bottleneck ? 4 * width : width; }
};

// y = branch(relu(bn1(x))) + shortcut; the shortcut is x if the shape is kept, else `downsample`, a
// 1x1 convolution, of the branch's input. x: [n, in, h, w] y: [n, out, ceil(h / stride), ceil(w /
// stride)] Children: bn1 but of the first, conv1, bn2, conv2 and of a bottleneck bn3, conv3;
// downsample.
class PreactUnit final : public nn::LayerWithOptions<PreactUnitOptions> {
 public:
  explicit PreactUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  void AddConv(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1);

  std::vector<nn::BatchNorm2d*> norms_;  // one before each convolution; null: none
  std::vector<nn::Conv2d*> convs_;
  nn::Conv2d* downsample_ = nullptr;  // null where the shortcut is the identity
};

struct PreactResnetOptions {
  std::vector<int64_t> units = {2, 2, 2, 2};  // of 64, 128, 256 and 512 channels
  bool bottleneck = false;
  int64_t classes = 1000;
  template <class V>
  void Visit(V& v) {
    v.Always("units", units);
    v.Field("bottleneck", bottleneck);
    v.Field("classes", classes);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: conv1, bn1, layer1.0 ... layer4.n, norm, fc.
class PreactResnet final : public nn::LayerWithOptions<PreactResnetOptions> {
 public:
  // Throws unless `units` are four positive numbers.
  explicit PreactResnet(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d& conv1_;
  nn::BatchNorm2d& bn1_;
  std::vector<nn::ModuleList<PreactUnit>*> layers_;
  nn::BatchNorm2d& norm_;
  nn::Linear& fc_;
};

// Options of "preact_resnet18" or "preact_resnet50". Throws for another name.
PreactResnetOptions PreactResnetOf(const std::string& name, const Options& options = {});

std::vector<Network> PreactResnetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_PREACT_RESNET_H_
