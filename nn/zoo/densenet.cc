// Each unit puts its channels behind those before them, so that the next one reads all of them.
#include "firn/nn/zoo/densenet.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/nn/pooling.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/random/dropout.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/join.h"

namespace firn::zoo {
namespace {

using Layers = std::vector<nn::LayerSpec>;
constexpr int64_t kInner = 4;  // times the growth: channels between the convolutions of a unit

nn::ConvOptions ConvOf(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
  return {.in = in,
          .out = out,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2,
          .bias = false,
          .weight_init = nn::init::KaimingNormal()};
}

// Every norm of the network has a Relu behind it.
nn::BatchNormOptions NormOf(int64_t channels) {
  return {.channels = channels, .activation = FusedActivation::kRelu};
}

Layers Block(int64_t in, int64_t units, const DensenetOptions& options) {
  Layers layers;
  for (int64_t i = 0; i < units; ++i) {
    layers.emplace_back(
        absl::StrCat("denselayer", i + 1),
        nn::New<DensenetUnit>(
            {.in = in + i * options.growth, .growth = options.growth, .dropout = options.dropout}));
  }
  return layers;
}

Layers Transition(int64_t in) {
  return {{"norm", nn::New<nn::BatchNorm2d>(NormOf(in))},
          {"conv", nn::New<nn::Conv2d>(ConvOf(in, in / 2, 1))},
          {"pool", nn::New<nn::AvgPool2d>({.kernel = 2})}};
}

// Channels of the last norm.
int64_t LastChannels(const DensenetOptions& options) {
  int64_t channels = options.stem;
  for (size_t i = 0; i < options.units.size(); ++i) {
    if (i > 0) channels /= 2;
    channels += options.units[i] * options.growth;
  }
  return channels;
}

Layers FeatureLayers(const DensenetOptions& options) {
  bool right = !options.units.empty();
  for (const int64_t n : options.units) right = right && n > 0;
  if (!right) {
    RaiseStatus(InvalidArgument("expected positive numbers of units, got [",
                                absl::StrJoin(options.units, ", "), "]"),
                "zoo::Densenet");
  }
  Layers layers = {{"conv0", nn::New<nn::Conv2d>(ConvOf(3, options.stem, 7, 2))},
                   {"norm0", nn::New<nn::BatchNorm2d>(NormOf(options.stem))},
                   {"pool0", nn::New<nn::MaxPool2d>({.kernel = 3, .stride = 2, .padding = 1})}};
  int64_t in = options.stem;
  for (size_t i = 0; i < options.units.size(); ++i) {
    if (i > 0) {
      layers.emplace_back(absl::StrCat("transition", i), nn::New<nn::Sequential>(Transition(in)));
      in /= 2;
    }
    layers.emplace_back(absl::StrCat("denseblock", i + 1),
                        nn::New<nn::Sequential>(Block(in, options.units[i], options)));
    in += options.units[i] * options.growth;
  }
  layers.emplace_back("norm5", nn::New<nn::BatchNorm2d>(NormOf(in)));
  return layers;
}

}  // namespace

DensenetUnit::DensenetUnit(const Options& options)
    : LayerWithOptions(options),
      norm1_(Add<nn::BatchNorm2d>("norm1", NormOf(options.in))),
      conv1_(Add<nn::Conv2d>("conv1", ConvOf(options.in, kInner * options.growth, 1))),
      norm2_(Add<nn::BatchNorm2d>("norm2", NormOf(kInner * options.growth))),
      conv2_(Add<nn::Conv2d>("conv2", ConvOf(kInner * options.growth, options.growth, 3))) {}

Tensor DensenetUnit::Forward(const Tensor& x) {
  const Tensor added = conv2_(norm2_(conv1_(norm1_(x))));
  return Concat({x, Dropout(added, options().dropout, training())}, 1);
}

Densenet::Densenet(const Options& options)
    : LayerWithOptions(options),
      features_(Add<nn::Sequential>("features", FeatureLayers(options))),
      classifier_(Add<nn::Linear>("classifier", {.in = LastChannels(options),
                                                 .out = options.classes,
                                                 .bias_init = nn::init::Constant(0)})) {}

Tensor Densenet::Forward(const Tensor& x) { return classifier_(Mean(features_(x), {2, 3})); }

namespace {

const PublishedClassifiers<DensenetOptions>& All() {
  static const auto* const all = new PublishedClassifiers<DensenetOptions>{
      {"densenet121", {{.units = {6, 12, 24, 16}}, 7'978'856, 2.834}},
      {"densenet161", {{.units = {6, 12, 36, 24}, .stem = 96, .growth = 48}, 28'681'000, 7.728}},
      {"densenet169", {{.units = {6, 12, 32, 32}}, 14'149'480, 3.36}},
      {"densenet201", {{.units = {6, 12, 48, 32}}, 20'013'928, 4.291}},
  };
  return *all;
}

}  // namespace

DensenetOptions DensenetOf(const std::string& name, const Options& options) {
  DensenetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> DensenetNetworks() {
  return ClassifiersOf<Densenet>(
      All(), DensenetOf, "Huang et al., \"Densely connected convolutional networks\", 2016");
}

}  // namespace firn::zoo
