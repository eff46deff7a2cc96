// Howard et al., "Searching for MobileNetV3", 2019; Tan and Le, "EfficientNet", 2019, and
// "EfficientNetV2", 2021. Names are torchvision's.
#include "firn/nn/zoo/inverted_residual.h"

#include <vector>

#include "firn/tensor/operators.h"

namespace firn::zoo {
namespace {

std::vector<nn::LayerSpec> Block(const InvertedResidualOptions& o) {
  const auto conv = [&](int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups,
                        ActivationFunction activation) {
    return nn::New<ConvNorm>({.in = in,
                              .out = out,
                              .kernel = kernel,
                              .stride = stride,
                              .groups = groups,
                              .activation = activation,
                              .eps = o.eps,
                              .momentum = o.momentum});
  };
  const bool expands = o.expanded != o.in;
  std::vector<nn::LayerSpec> block;
  if (o.fused) {
    block.push_back(conv(o.in, expands ? o.expanded : o.out, o.kernel, o.stride, 1, o.activation));
    if (expands) block.push_back(conv(o.expanded, o.out, 1, 1, 1, nullptr));
    return block;
  }
  if (expands) block.push_back(conv(o.in, o.expanded, 1, 1, 1, o.activation));
  block.push_back(conv(o.expanded, o.expanded, o.kernel, o.stride, o.expanded, o.activation));
  if (o.squeezed > 0) {
    block.push_back(nn::New<SqueezeExcitation>({.channels = o.expanded,
                                                .squeezed = o.squeezed,
                                                .activation = o.squeeze_activation,
                                                .gate = o.gate}));
  }
  block.push_back(conv(o.expanded, o.out, 1, 1, 1, nullptr));
  return block;
}

}  // namespace

InvertedResidual::InvertedResidual(const Options& options)
    : LayerWithOptions(options),
      block_(Add<nn::Sequential>("block", Block(options))),
      stochastic_depth_(
          Add<nn::StochasticDepth>("stochastic_depth", {.p = options.stochastic_depth})) {}

Tensor InvertedResidual::Forward(const Tensor& x) {
  const Tensor y = block_(x);
  if (options().stride != 1 || options().in != options().out) return y;
  return x + stochastic_depth_(y);
}

}  // namespace firn::zoo
