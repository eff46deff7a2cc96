#ifndef FIRN_NN_ZOO_MOBILENET_V2_H_
#define FIRN_NN_ZOO_MOBILENET_V2_H_

// Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", 2018. Names and shapes
// are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct MobilenetV2UnitOptions {
  int64_t in = 32, out = 16;  // channels
  int64_t stride = 1;
  int64_t expansion = 6;  // how many times the channels of x are convolved each on its own
};

// Expands, convolves and projects x, and adds x if shape and channels are the same. x: [n, in, h,
// w] y: [n, out, ceil(h / stride), ceil(w / stride)] Children: conv.0 ..., of which the last two
// are a 1x1 convolution and a norm, the others ConvNorms.
class MobilenetV2Unit final : public nn::LayerWithOptions<MobilenetV2UnitOptions> {
 public:
  explicit MobilenetV2Unit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& conv_;
};

struct MobilenetV2Options {
  double width = 1;  // times the channels of every layer, rounded to multiples of 8
  int64_t classes = 1000;
  double dropout = 0.2;
  template <class V>
  void Visit(V& v) {
    v.Field("width", width);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: features.0 ... features.18, classifier.1.
class MobilenetV2 final : public nn::LayerWithOptions<MobilenetV2Options> {
 public:
  // Throws unless the width is positive.
  explicit MobilenetV2(const Options& options = {});

  // The result of `features`: 1/32 of the image's size.
  Tensor Features(const Tensor& x) { return features_(x); }

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& features_;
  nn::Sequential& classifier_;
};

// Options of "mobilenet_v2". Throws for another name.
MobilenetV2Options MobilenetV2Of(const std::string& name, const Options& options = {});

std::vector<Network> MobilenetV2Networks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_MOBILENET_V2_H_
