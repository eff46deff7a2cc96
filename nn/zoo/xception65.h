#ifndef FIRN_NN_ZOO_XCEPTION65_H_
#define FIRN_NN_ZOO_XCEPTION65_H_

// Xception with more units, without pooling: the backbone of DeepLab v3+ (Chen et al.,
// "Encoder-decoder with atrous separable convolution for semantic image segmentation", 2018, figure
// 4). Names are Firn's.

#include <array>
#include <cstdint>
#include <vector>

#include "firn/nn/layer.h"
#include "firn/nn/module_list.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/conv_norm.h"

namespace firn::zoo {

// A 3x3 convolution of each channel and one of 1x1 over all of them, each with its norm, behind
// each of which is a relu where `relu` says so. Children 0 to 3: convolution, norm, convolution,
// norm.
struct NormedSeparableOptions {
  int64_t in = 728, out = 728;  // channels
  int64_t stride = 1;
  int64_t rate = 1;  // dilation of the first convolution, and its padding
  bool relu = true;
  double eps = 1e-5;  // of the norms
};
std::vector<nn::LayerSpec> NormedSeparable(const NormedSeparableOptions& options);

enum class Xception65Shortcut { kConv, kIdentity, kNone };

struct Xception65UnitOptions {
  int64_t in = 728;
  std::array<int64_t, 3> out = {728, 728, 728};  // channels of the three convolutions
  int64_t stride = 1;                            // of the third one
  int64_t rate = 1;                              // dilation of all
  Xception65Shortcut shortcut = Xception65Shortcut::kIdentity;
  bool relu_behind = false;  // the relus stand behind every norm; else one before each convolution
};

// Three separable convolutions, and what the shortcut makes added to them.
// x: [n, in, h, w]      y: [n, out[2], ceil(h / stride), ceil(w / stride)]
// Children: convs.0 to convs.2; shortcut, where it is a convolution.
class Xception65Unit final : public nn::LayerWithOptions<Xception65UnitOptions> {
 public:
  explicit Xception65Unit(const Options& options);

  // A call of the layer. `second`, unless it is null, gets the second convolution's result.
  Tensor Run(const Tensor& x, Tensor* second);

 protected:
  Tensor Forward(const Tensor& x) override { return Compute(x, nullptr); }

 private:
  Tensor Compute(const Tensor& x, Tensor* second);

  nn::ModuleList<nn::Sequential>& convs_;
  ConvNorm* shortcut_ = nullptr;
};

struct Xception65Options {
  int64_t middle = 16;         // units between those that change the shape
  int64_t output_stride = 16;  // 8, 16 or 32: pixels of the image for one of the result
};

// x: [n, 3, h, w]      y: [n, 2048, ceil(h / output_stride), ceil(w / output_stride)]
// Children: conv1, conv2, units.0 ....
class Xception65 final : public nn::LayerWithOptions<Xception65Options> {
 public:
  // Throws for a negative number of units. Requires: one of the output strides.
  explicit Xception65(const Options& options = {});

  // What DeepLab v3+ reads: of a quarter of the image's size with 256 channels, and y.
  std::array<Tensor, 2> Stages(const Tensor& x);

 protected:
  Tensor Forward(const Tensor& x) override { return Stages(x)[1]; }

 private:
  ConvNorm &conv1_, &conv2_;
  nn::ModuleList<Xception65Unit>& units_;
};

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_XCEPTION65_H_
