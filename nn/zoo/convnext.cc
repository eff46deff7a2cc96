// Operations on the channels of each pixel see them as the last dimension.
#include "firn/nn/zoo/convnext.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/nn/activation.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/nn/norm.h"
#include "firn/nn/shape_layers.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/norm/layer_norm.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/permute.h"

namespace firn::zoo {
namespace {

using Layers = std::vector<nn::LayerSpec>;
constexpr double kEps = 1e-6;  // of the norms

Tensor ChannelsLast(const Tensor& x) { return Permute(x, {0, 2, 3, 1}); }
Tensor ChannelsFirst(const Tensor& x) { return Permute(x, {0, 3, 1, 2}); }

nn::LayerSpec ConvOf(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups = 1) {
  return nn::New<nn::Conv2d>({.in = in,
                              .out = out,
                              .kernel = kernel,
                              .stride = stride,
                              .padding = stride == 1 ? kernel / 2 : 0,
                              .groups = groups,
                              .weight_init = nn::init::TruncatedNormal(0, 0.02),
                              .bias_init = nn::init::Constant(0)});
}

nn::LayerSpec LinearOf(int64_t in, int64_t out) {
  return nn::New<nn::Linear>({.in = in,
                              .out = out,
                              .weight_init = nn::init::TruncatedNormal(0, 0.02),
                              .bias_init = nn::init::Constant(0)});
}

Layers Block(int64_t channels) {
  return {ConvOf(channels, channels, 7, 1, channels),
          ChannelsLast,
          nn::New<nn::LayerNorm>({.shape = {channels}, .eps = kEps}),
          LinearOf(channels, 4 * channels),
          nn::New<nn::Gelu>(),
          LinearOf(4 * channels, channels),
          ChannelsFirst};
}

ConvnextOptions Checked(const ConvnextOptions& o) {
  bool right = !o.units.empty() && o.units.size() == o.widths.size();
  for (const int64_t n : o.units) right = right && n > 0;
  for (const int64_t w : o.widths) right = right && w > 0;
  if (!right) {
    RaiseStatus(InvalidArgument("expected as many positive widths as numbers of units, got units [",
                                absl::StrJoin(o.units, ", "), "], widths [",
                                absl::StrJoin(o.widths, ", "), "]"),
                "zoo::Convnext");
  }
  return o;
}

Layers FeatureLayers(const ConvnextOptions& options) {
  const std::vector<int64_t>& widths = options.widths;
  double last = -1, made = 0;
  for (const int64_t n : options.units) last += static_cast<double>(n);
  Layers layers = {nn::New<nn::Sequential>(
      {ConvOf(3, widths[0], 4, 4), nn::New<ConvnextNorm>({.channels = widths[0]})})};
  for (size_t stage = 0; stage < widths.size(); ++stage) {
    if (stage > 0) {
      layers.push_back(
          nn::New<nn::Sequential>({nn::New<ConvnextNorm>({.channels = widths[stage - 1]}),
                                   ConvOf(widths[stage - 1], widths[stage], 2, 2)}));
    }
    Layers units;
    for (int64_t i = 0; i < options.units[stage]; ++i) {
      units.push_back(nn::New<ConvnextUnit>(
          {.channels = widths[stage],
           .layer_scale = options.layer_scale,
           .stochastic_depth = options.stochastic_depth * made++ / std::max(last, 1.0)}));
    }
    layers.push_back(nn::New<nn::Sequential>(units));
  }
  return layers;
}

Layers ClassifierLayers(const ConvnextOptions& options) {
  const int64_t channels = options.widths.back();
  return {nn::New<ConvnextNorm>({.channels = channels}), nn::New<nn::Flatten>(),
          LinearOf(channels, options.classes)};
}

}  // namespace

ConvnextNorm::ConvnextNorm(const Options& options)
    : LayerWithOptions(options),
      weight_(AddParameter("weight", Ones({options.channels}))),
      bias_(AddParameter("bias", Zeros({options.channels}))) {}

Tensor ConvnextNorm::Forward(const Tensor& x) {
  return ChannelsFirst(LayerNorm(ChannelsLast(x), {options().channels}, weight_, bias_, kEps));
}

ConvnextUnit::ConvnextUnit(const Options& options)
    : LayerWithOptions(options),
      layer_scale_(
          AddParameter("layer_scale", Full({options.channels, 1, 1}, options.layer_scale))),
      block_(Add<nn::Sequential>("block", Block(options.channels))),
      stochastic_depth_(
          Add<nn::StochasticDepth>("stochastic_depth", {.p = options.stochastic_depth})) {}

Tensor ConvnextUnit::Forward(const Tensor& x) {
  return x + stochastic_depth_(layer_scale_ * block_(x));
}

Convnext::Convnext(const Options& options)
    : LayerWithOptions(Checked(options)),
      features_(Add<nn::Sequential>("features", FeatureLayers(options))),
      classifier_(Add<nn::Sequential>("classifier", ClassifierLayers(options))) {}

Tensor Convnext::Forward(const Tensor& x) { return classifier_(Mean(features_(x), {2, 3}, true)); }

namespace {

const PublishedClassifiers<ConvnextOptions>& All() {
  static const auto* const all = new PublishedClassifiers<ConvnextOptions>{
      {"convnext_tiny", {{.units = {3, 3, 9, 3}}, 28'589'128, 4.456}},
      {"convnext_small", {{.units = {3, 3, 27, 3}, .stochastic_depth = 0.4}, 50'223'688, 8.684}},
      {"convnext_base",
       {{.units = {3, 3, 27, 3}, .widths = {128, 256, 512, 1024}, .stochastic_depth = 0.5},
        88'591'464,
        15.355}},
  };
  return *all;
}

}  // namespace

ConvnextOptions ConvnextOf(const std::string& name, const Options& options) {
  ConvnextOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.stochastic_depth = DropoutOr(options, of.stochastic_depth);
  return of;
}

std::vector<Network> ConvnextNetworks() {
  return ClassifiersOf<Convnext>(All(), ConvnextOf,
                                 "Liu et al., \"A ConvNet for the 2020s\", 2022");
}

}  // namespace firn::zoo
