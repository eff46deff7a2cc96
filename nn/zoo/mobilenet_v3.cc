#include "firn/nn/zoo/mobilenet_v3.h"

#include "absl/types/span.h"
#include "firn/nn/activation.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/nn/zoo/inverted_residual.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

constexpr double kEps = 1e-3, kMomentum = 0.01;  // of the norms

struct Unit {
  int64_t kernel, expanded, out;
  bool squeezes, hard;  // hard: Hardswish, else Relu
  int64_t stride;
};
// Tables 1 and 2 of the paper.
constexpr Unit kLarge[] = {
    {3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1},
    {5, 72, 40, true, false, 2},  {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1},
    {3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1}, {3, 184, 80, false, true, 1},
    {3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1},
    {5, 672, 160, true, true, 2}, {5, 960, 160, true, true, 1}, {5, 960, 160, true, true, 1}};
constexpr Unit kSmall[] = {
    {3, 16, 16, true, false, 2}, {3, 72, 24, false, false, 2}, {3, 88, 24, false, false, 1},
    {5, 96, 40, true, true, 2},  {5, 240, 40, true, true, 1},  {5, 240, 40, true, true, 1},
    {5, 120, 48, true, true, 1}, {5, 144, 48, true, true, 1},  {5, 288, 96, true, true, 2},
    {5, 576, 96, true, true, 1}, {5, 576, 96, true, true, 1}};

absl::Span<const Unit> UnitsOf(const MobilenetV3Options& options) {
  return options.small ? absl::Span<const Unit>(kSmall) : kLarge;
}

int64_t Wide(int64_t channels, const MobilenetV3Options& options) {
  return RoundChannels(static_cast<double>(channels) * options.width);
}

// The channels of the last convolution.
int64_t LastChannels(const MobilenetV3Options& options) {
  return 6 * Wide(UnitsOf(options).back().out, options);
}

nn::LayerSpec Stem(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::New<ConvNorm>({.in = in,
                            .out = out,
                            .kernel = kernel,
                            .stride = stride,
                            .activation = Hardswish,
                            .eps = kEps,
                            .momentum = kMomentum});
}

std::vector<nn::LayerSpec> FeatureLayers(const MobilenetV3Options& options) {
  ExpectPositive("width", options.width, "zoo::MobilenetV3");
  int64_t in = Wide(16, options);
  std::vector<nn::LayerSpec> layers = {Stem(3, in, 3, 2)};
  for (const Unit& unit : UnitsOf(options)) {
    const int64_t expanded = Wide(unit.expanded, options), out = Wide(unit.out, options);
    layers.push_back(nn::New<InvertedResidual>(
        {.in = in,
         .expanded = expanded,
         .out = out,
         .kernel = unit.kernel,
         .stride = unit.stride,
         .squeezed = unit.squeezes ? RoundChannels(static_cast<double>(expanded / 4)) : 0,
         .activation = unit.hard ? Hardswish : Relu,
         .gate = HardGate,
         .eps = kEps,
         .momentum = kMomentum}));
    in = out;
  }
  layers.push_back(Stem(in, LastChannels(options), 1, 1));
  return layers;
}

std::vector<nn::LayerSpec> ClassifierLayers(const MobilenetV3Options& options) {
  const auto linear = [](int64_t in, int64_t out) {
    return nn::New<nn::Linear>({.in = in,
                                .out = out,
                                .weight_init = nn::init::Normal(0, 0.01),
                                .bias_init = nn::init::Constant(0)});
  };
  const int64_t inner = Wide(options.small ? 1024 : 1280, options);
  return {linear(LastChannels(options), inner), nn::New<nn::Hardswish>(),
          nn::New<nn::Dropout>({.p = options.dropout}), linear(inner, options.classes)};
}

}  // namespace

MobilenetV3::MobilenetV3(const Options& options)
    : LayerWithOptions(options),
      features_(Add<nn::Sequential>("features", FeatureLayers(options))),
      classifier_(Add<nn::Sequential>("classifier", ClassifierLayers(options))) {}

Tensor MobilenetV3::Forward(const Tensor& x) { return classifier_(Mean(features_(x), {2, 3})); }

namespace {

const PublishedClassifiers<MobilenetV3Options>& All() {
  static const auto* const all = new PublishedClassifiers<MobilenetV3Options>{
      {"mobilenet_v3_large", {{}, 5'483'032, 0.217}},
      {"mobilenet_v3_small", {{.small = true}, 2'542'856, 0.057}},
  };
  return *all;
}

}  // namespace

MobilenetV3Options MobilenetV3Of(const std::string& name, const Options& options) {
  MobilenetV3Options of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> MobilenetV3Networks() {
  return ClassifiersOf<MobilenetV3>(All(), MobilenetV3Of,
                                    "Howard et al., \"Searching for MobileNetV3\", 2019");
}

}  // namespace firn::zoo
