#ifndef FIRN_NN_DROPOUT_H_
#define FIRN_NN_DROPOUT_H_

// Layers that drop elements at random in training, and return x itself in eval mode. A p outside
// [0, 1] is an error when the layer is made.

#include "firn/nn/function_layer.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/random/dropout.h"
#include "firn/tensor/ops/random/dropouts.h"

namespace firn::nn {

struct DropoutOptions {
  double p = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Always("p", p);
  }
  void Check(const char* where) const { CheckRange(where, "p", p, 0, 1); }
};

// In training, sets elements to 0 with probability p and scales the others by 1 / (1 - p); in eval
// mode x itself.
struct DropoutFunction {
  static constexpr const char* kName = "Dropout";
  using Options = DropoutOptions;
  static Tensor Call(const Tensor& x, const Options& o, bool training) {
    return firn::Dropout(x, o.p, training);
  }
};
using Dropout = FunctionLayer<DropoutFunction>;

namespace internal {
Tensor DropChannels(const char* layer, const Tensor& x, int dims, double p, bool training);
}  // namespace internal

// Dropout of whole channels, as PyTorch's: Dropout1d takes [n, c, l] or [c, l], Dropout2d
// [n, c, h, w] or [n, c, l], Dropout3d [n, c, d, h, w] or [c, d, h, w]. Throws on other ranks.
template <internal::LayerName kLayer, int kDims>
struct DropChannelsFunction {
  static constexpr const char* kName = kLayer.text;
  using Options = DropoutOptions;
  static Tensor Call(const Tensor& x, const Options& o, bool training) {
    return internal::DropChannels(kName, x, kDims, o.p, training);
  }
};
using Dropout1d = FunctionLayer<DropChannelsFunction<"Dropout1d", 1>>;
using Dropout2d = FunctionLayer<DropChannelsFunction<"Dropout2d", 2>>;
using Dropout3d = FunctionLayer<DropChannelsFunction<"Dropout3d", 3>>;

// Dropout that keeps mean 0 and variance 1 behind Selu: of elements, or of the channels of
// [n, c, ...].
template <internal::LayerName kLayer, bool kPerChannel>
struct AlphaDropoutFunction {
  static constexpr const char* kName = kLayer.text;
  using Options = DropoutOptions;
  static Tensor Call(const Tensor& x, const Options& o, bool training) {
    return firn::AlphaDropout(x, o.p, training, kPerChannel);
  }
};
using AlphaDropout = FunctionLayer<AlphaDropoutFunction<"AlphaDropout", false>>;
using FeatureAlphaDropout = FunctionLayer<AlphaDropoutFunction<"FeatureAlphaDropout", true>>;

struct StochasticDepthOptions {
  double p = 0;         // with which a sample's branch is left out
  bool per_row = true;  // for each sample on its own; false: for all at once
  template <class V>
  void Visit(V& v) {
    v.Always("p", p);
    v.Field("per_row", per_row);
  }
  void Check(const char* where) const { CheckRange(where, "p", p, 0, 1); }
};

// For the result of a residual branch: x + drop(branch(x)).
struct StochasticDepthFunction {
  static constexpr const char* kName = "StochasticDepth";
  using Options = StochasticDepthOptions;
  static Tensor Call(const Tensor& x, const Options& o, bool training) {
    return firn::StochasticDepth(x, o.p, o.per_row, training);
  }
};
using StochasticDepth = FunctionLayer<StochasticDepthFunction>;

}  // namespace firn::nn

#endif  // FIRN_NN_DROPOUT_H_
