#ifndef FIRN_NN_ZOO_MOBILENET_V1_H_
#define FIRN_NN_ZOO_MOBILENET_V1_H_

// Howard et al., "MobileNets: efficient convolutional neural networks for mobile vision
// applications", 2017.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct MobilenetV1Options {
  double width = 1;  // the paper's alpha: how many times as many channels, at least 8
  int64_t classes = 1000;
  double dropout = 0.001;
  template <class V>
  void Visit(V& v) {
    v.Field("width", width);
    v.Field("classes", classes);
    v.Field("dropout", dropout);
  }
};

// x: [n, 3, h, w]      y: [n, classes]
// Children: features.0, a convolution with its norm; features.1 to features.13, of which 0 is a
// convolution of each channel and 1 one of 1x1; dropout; fc.
class MobilenetV1 final : public nn::LayerWithOptions<MobilenetV1Options> {
 public:
  // Throws unless the width is positive.
  explicit MobilenetV1(const Options& options = {});

  // The result of `features`: 1/32 of the image's size.
  Tensor Features(const Tensor& x) { return features_(x); }

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& features_;
  nn::Dropout& dropout_;
  nn::Linear& fc_;
};

// Options of "mobilenet_v1", or of "mobilenet_v1_0_75", "mobilenet_v1_0_5" and "mobilenet_v1_0_25",
// whose width is smaller. Throws for another name.
MobilenetV1Options MobilenetV1Of(const std::string& name, const Options& options = {});

std::vector<Network> MobilenetV1Networks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_MOBILENET_V1_H_
