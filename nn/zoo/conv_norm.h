#ifndef FIRN_NN_ZOO_CONV_NORM_H_
#define FIRN_NN_ZOO_CONV_NORM_H_

// Parts that families of convolutional networks share: a convolution with its norm and activation,
// gates of channels, and the rounding of numbers of channels.

#include <cstdint>

#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/init.h"
#include "firn/nn/layer.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/sigmoids.h"

namespace firn::zoo {

// A convolution without bias whose padding is half the kernel, so that stride 1 keeps the size of
// odd kernels.
nn::ConvOptions PaddedConv(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1,
                           int64_t groups = 1);

// A null pointer stands for x itself.
using ActivationFunction = Tensor (*)(const Tensor& x);

struct ConvNormOptions {
  int64_t in = 3, out = 64;  // channels
  // The padding is half the kernel, so that stride 1 keeps the size of odd kernels.
  Sizes kernel = 3;
  Sizes stride = 1;
  int64_t groups = 1;
  ActivationFunction activation = Relu;
  // Options of the norm; see nn::BatchNormOptions.
  double eps = 1e-5;
  double momentum = 0.1;
  nn::init::Initializer weight_init = nn::init::KaimingNormal({.fan = nn::init::Fan::kOut});
};

// y = activation(norm(conv(x))), torchvision's Conv2dNormActivation.
// x: [n, in, h, w]      y: [n, out, (h + 2 (kernel / 2) - kernel) / stride + 1, ...]
// Children: 0, the convolution without bias, and 1, the norm.
class ConvNorm final : public nn::LayerWithOptions<ConvNormOptions> {
 public:
  explicit ConvNorm(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d& conv_;
  nn::BatchNorm2d& norm_;
};

struct SqueezeExcitationOptions {
  int64_t channels = 64;
  int64_t squeezed = 16;
  ActivationFunction activation = Relu;
  ActivationFunction gate = Sigmoid;
};

// Hu et al., "Squeeze-and-excitation networks", 2017:
//   y = x * gate(fc2(activation(fc1(mean of each channel))))
// x, y: [n, channels, h, w]
// Children: fc1 and fc2, 1x1 convolutions with biases.
class SqueezeExcitation final : public nn::LayerWithOptions<SqueezeExcitationOptions> {
 public:
  explicit SqueezeExcitation(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Conv2d& fc1_;
  nn::Conv2d& fc2_;
};

// torchvision's gate of MobileNet v3: Hardsigmoid with its own slope, as a function of x alone.
Tensor HardGate(const Tensor& x);

// The multiple of `divisor` next to `channels`, at least one, and at least 9/10 of `channels`: how
// the reference code of MobileNet v2 and most networks since rounds.
int64_t RoundChannels(double channels, int64_t divisor = 8);

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_CONV_NORM_H_
