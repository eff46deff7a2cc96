#ifndef FIRN_NN_ZOO_INVERTED_RESIDUAL_H_
#define FIRN_NN_ZOO_INVERTED_RESIDUAL_H_

#include <cstdint>

#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/conv_norm.h"

namespace firn::zoo {

struct InvertedResidualOptions {
  int64_t in = 16, expanded = 64, out = 16;  // channels
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t squeezed = 0;  // channels inside of the squeeze-and-excitation; 0: there is none
  // One full convolution expands, in place of a 1x1 and one of each channel. Without `squeezed`.
  bool fused = false;
  ActivationFunction activation = Relu;
  ActivationFunction squeeze_activation = Relu, gate = Sigmoid;
  double eps = 1e-5, momentum = 0.1;  // of the norms
  double stochastic_depth = 0;        // the probability with which the branch is left out
};

// The unit of MobileNet v3 and EfficientNet (MBConv, fused: Fused-MBConv): channels are expanded by
// a 1x1 convolution, unless there are as many as before, convolved each on its own, gated, and
// projected. The projection is added to x if shape and channels are the same. x: [n, in, h, w] y:
// [n, out, ceil(h / stride), ceil(w / stride)] Children: block.0, block.1, ..., each a ConvNorm or
// a SqueezeExcitation.
class InvertedResidual final : public nn::LayerWithOptions<InvertedResidualOptions> {
 public:
  explicit InvertedResidual(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& block_;
  nn::StochasticDepth& stochastic_depth_;
};

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_INVERTED_RESIDUAL_H_
