#ifndef FIRN_BENCHMARKS_RESNET18_H_
#define FIRN_BENCHMARKS_RESNET18_H_

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/layer.h"
#include "firn/nn/linear.h"
#include "firn/nn/module_list.h"
#include "firn/nn/res_unit.h"

namespace firn::benchmarks {

// ResNet-18 (He et al., 2015) with the stem that is usual for images of 32x32 pixels: a 3x3
// convolution of stride 1 and no pooling. Two residual units each of 64, 128, 256 and 512 channels,
// then the mean over each channel; 11.2 million parameters.
// x: [n, 3, h, w]      y: [n, 10]
class Resnet18 final : public nn::Layer {
 public:
  Resnet18();

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d& conv1_ =
      Add<nn::Conv2d>("conv1", {.in = 3, .out = 64, .kernel = 3, .padding = 1, .bias = false});
  nn::BatchNorm2d& bn1_ =
      Add<nn::BatchNorm2d>("bn1", {.channels = 64, .activation = FusedActivation::kRelu});
  nn::ModuleList<nn::ResUnit>& units_ = Add<nn::ModuleList<nn::ResUnit>>("units");
  nn::Linear& fc_ = Add<nn::Linear>("fc", {.in = 512, .out = 10});
};

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_RESNET18_H_
