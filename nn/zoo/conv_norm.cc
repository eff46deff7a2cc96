// A norm followed by Relu applies it in its own pass; other activations are operations.
#include "firn/nn/zoo/conv_norm.h"

#include <algorithm>

#include "firn/tensor/operators.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

nn::ConvOptions ConvOf(const ConvNormOptions& o) {
  nn::ConvOptions conv = {.in = o.in,
                          .out = o.out,
                          .kernel = o.kernel,
                          .stride = o.stride,
                          .groups = o.groups,
                          .bias = false,
                          .weight_init = o.weight_init};
  conv.padding.size = o.kernel;
  for (int i = 0; i < o.kernel.count(); ++i) conv.padding.size.set(i, o.kernel[i] / 2);
  return conv;
}

nn::ConvOptions DenseOf(int64_t in, int64_t out) {
  return {.in = in,
          .out = out,
          .kernel = 1,
          .weight_init = nn::init::KaimingNormal({.fan = nn::init::Fan::kOut}),
          .bias_init = nn::init::Constant(0)};
}

}  // namespace

nn::ConvOptions PaddedConv(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                           int64_t groups) {
  return {.in = in,
          .out = out,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2,
          .groups = groups,
          .bias = false};
}

ConvNorm::ConvNorm(const Options& options)
    : LayerWithOptions(options),
      conv_(Add<nn::Conv2d>("0", ConvOf(options))),
      norm_(Add<nn::BatchNorm2d>(
          "1", {.channels = options.out,
                .eps = options.eps,
                .momentum = options.momentum,
                .activation = options.activation == Relu ? FusedActivation::kRelu
                                                         : FusedActivation::kNone})) {}

Tensor ConvNorm::Forward(const Tensor& x) {
  const Tensor y = norm_(conv_(x));
  const ActivationFunction activation = options().activation;
  return activation == nullptr || activation == Relu ? y : activation(y);
}

SqueezeExcitation::SqueezeExcitation(const Options& options)
    : LayerWithOptions(options),
      fc1_(Add<nn::Conv2d>("fc1", DenseOf(options.channels, options.squeezed))),
      fc2_(Add<nn::Conv2d>("fc2", DenseOf(options.squeezed, options.channels))) {}

Tensor SqueezeExcitation::Forward(const Tensor& x) {
  const Tensor squeezed = options().activation(fc1_(Mean(x, {2, 3}, true)));
  return x * options().gate(fc2_(squeezed));
}

Tensor HardGate(const Tensor& x) { return Hardsigmoid(x); }

int64_t RoundChannels(double channels, int64_t divisor) {
  const auto half = static_cast<int64_t>(channels + static_cast<double>(divisor) / 2);
  const int64_t rounded = std::max(divisor, half / divisor * divisor);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + divisor : rounded;
}

}  // namespace firn::zoo
