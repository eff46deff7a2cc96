#ifndef FIRN_NN_ZOO_XCEPTION_H_
#define FIRN_NN_ZOO_XCEPTION_H_

// Chollet, "Xception: deep learning with depthwise separable convolutions", 2016. Names are those
// of PyTorch's collections (pretrainedmodels, timm's legacy_xception).

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct SeparableConvOptions {
  int64_t in = 64, out = 64;  // channels
};

// A 3x3 convolution of each channel, then one of 1x1 over all of them, without biases.
// x: [n, in, h, w]      y: [n, out, h, w]
// Children: conv1, pointwise.
class SeparableConv final : public nn::LayerWithOptions<SeparableConvOptions> {
 public:
  explicit SeparableConv(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d &conv1_, &pointwise_;
};

struct XceptionUnitOptions {
  int64_t in = 728, out = 728;
  int64_t convolutions = 3;
  int64_t stride = 1;       // 2: of pooling behind the convolutions, and of the shortcut
  bool starts_relu = true;  // relu stands before the first convolution too
  bool grows_first = true;  // the first convolution makes `out` channels, not the last
};

// y = rep(x) + shortcut(x); the shortcut is the identity where the shape is kept, else a 1x1
// convolution and a norm.
// x: [n, in, h, w]      y: [n, out, ceil(h / stride), ceil(w / stride)]
// Children: skip, skipbn; rep.0 ....
class XceptionUnit final : public nn::LayerWithOptions<XceptionUnitOptions> {
 public:
  explicit XceptionUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d* skip_ = nullptr;  // both null where the shortcut is the identity
  nn::BatchNorm2d* skipbn_ = nullptr;
  nn::Sequential& rep_;
};

struct XceptionOptions {
  int64_t middle = 8;  // units between those that change the shape
  int64_t classes = 1000;
  double dropout = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Field("middle", middle);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w] with h, w >= 7      y: [n, classes]
// Children: conv1, bn1, conv2, bn2, block1 ... block12, conv3, bn3, conv4, bn4, dropout,
// last_linear.
class Xception final : public nn::LayerWithOptions<XceptionOptions> {
 public:
  // Throws for a negative number of units.
  explicit Xception(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  void AddUnit(const XceptionUnitOptions& unit);

  nn::Conv2d& conv1_;
  nn::BatchNorm2d& bn1_;
  nn::Conv2d& conv2_;
  nn::BatchNorm2d& bn2_;
  std::vector<XceptionUnit*> units_;
  SeparableConv& conv3_;
  nn::BatchNorm2d& bn3_;
  SeparableConv& conv4_;
  nn::BatchNorm2d& bn4_;
  nn::Dropout& dropout_;
  nn::Linear& last_linear_;
};

// Options of "xception". Throws for another name.
XceptionOptions XceptionOf(const std::string& name, const Options& options = {});

std::vector<Network> XceptionNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_XCEPTION_H_
