#ifndef FIRN_NN_ZOO_SQUEEZENET_H_
#define FIRN_NN_ZOO_SQUEEZENET_H_

// Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model
// size", 2016. Names and shapes are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct SqueezenetFireOptions {
  int64_t in = 96, squeezed = 16, expanded = 64;  // channels; `expanded` of each of two
};

// s = relu(squeeze(x)); y = relu of expand1x1(s) and expand3x3(s), one behind the other.
// x: [n, in, h, w]      y: [n, 2 expanded, h, w]
// Children: squeeze, expand1x1, expand3x3.
class SqueezenetFire final : public nn::LayerWithOptions<SqueezenetFireOptions> {
 public:
  explicit SqueezenetFire(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d& squeeze_;
  nn::Conv2d& expand1x1_;
  nn::Conv2d& expand3x3_;
};

struct SqueezenetOptions {
  // Version 1.1: a stem of 64 channels and 3x3, and pooling earlier; else 96 and 7x7.
  bool early_pooling = false;
  int64_t classes = 1000;
  double dropout = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Field("early_pooling", early_pooling);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w] with h, w >= 21      y: [n, classes]
// Children: features.0, features.3 ... features.12, classifier.1.
class Squeezenet final : public nn::LayerWithOptions<SqueezenetOptions> {
 public:
  explicit Squeezenet(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& features_;
  nn::Sequential& classifier_;
};

// Options of "squeezenet1_0" or "squeezenet1_1". Throws for another name.
SqueezenetOptions SqueezenetOf(const std::string& name, const Options& options = {});

std::vector<Network> SqueezenetNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_SQUEEZENET_H_
