#ifndef FIRN_NN_ZOO_CONVNEXT_H_
#define FIRN_NN_ZOO_CONVNEXT_H_

// Liu et al., "A ConvNet for the 2020s", 2022. Names and shapes are torchvision's.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/nn/dropout.h"
#include "firn/nn/layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/network.h"

namespace firn::zoo {

struct ConvnextNormOptions {
  int64_t channels = 96;
};

// Layer normalisation of each pixel over its channels.
// x, y: [n, channels, h, w]
// Parameters: weight, bias [channels].
class ConvnextNorm final : public nn::LayerWithOptions<ConvnextNormOptions> {
 public:
  explicit ConvnextNorm(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Tensor &weight_, &bias_;
};

struct ConvnextUnitOptions {
  int64_t channels = 96;
  double layer_scale = 1e-6;    // the first scale of every channel of the branch
  double stochastic_depth = 0;  // the probability with which the branch is left out
};

// y = x + layer_scale * block(x); the block is a 7x7 convolution of each channel, a norm, and two
// layers over the channels of each pixel, four times as many in between.
// x, y: [n, channels, h, w]
// Parameter: layer_scale [channels, 1, 1]. Children: block.0, block.2, block.3, block.5.
class ConvnextUnit final : public nn::LayerWithOptions<ConvnextUnitOptions> {
 public:
  explicit ConvnextUnit(const Options& options);

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Tensor& layer_scale_;
  nn::Sequential& block_;
  nn::StochasticDepth& stochastic_depth_;
};

struct ConvnextOptions {
  std::vector<int64_t> units = {3, 3, 9, 3};          // of each stage
  std::vector<int64_t> widths = {96, 192, 384, 768};  // channels of each stage
  int64_t classes = 1000;
  double layer_scale = 1e-6;  // the first scale of the branches' channels
  // The probability with which the last unit's branch is left out in training. Those of the units
  // before it grow evenly from 0.
  double stochastic_depth = 0.1;
  template <class V>
  void Visit(V& v) {
    v.Always("units", units);
    v.Always("widths", widths);
    v.Field("classes", classes);
    v.Field("layer_scale", layer_scale);
    v.Field("stochastic_depth", stochastic_depth);
  }
};

// x: [n, 3, h, w] with h, w >= 32      y: [n, classes]
// Children: features.0.0, features.0.1 (the stem), features.1.0 ... (units), features.2.0,
// features.2.1 (a norm and a halving of the image), ..., classifier.0, classifier.2.
class Convnext final : public nn::LayerWithOptions<ConvnextOptions> {
 public:
  // Throws unless `units` and `widths` are equally many positive numbers.
  explicit Convnext(const Options& options = {});

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  nn::Sequential& features_;
  nn::Sequential& classifier_;
};

// Options of "convnext_tiny", "convnext_small" or "convnext_base". Throws for another name.
ConvnextOptions ConvnextOf(const std::string& name, const Options& options = {});

std::vector<Network> ConvnextNetworks();

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_CONVNEXT_H_
