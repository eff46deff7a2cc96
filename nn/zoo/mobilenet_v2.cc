#include "firn/nn/zoo/mobilenet_v2.h"

#include <algorithm>

#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/nn/zoo/conv_norm.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

std::vector<nn::LayerSpec> UnitLayers(const MobilenetV2UnitOptions& o) {
  const int64_t inner = o.in * o.expansion;
  std::vector<nn::LayerSpec> layers;
  if (o.expansion != 1) {
    layers.push_back(
        nn::New<ConvNorm>({.in = o.in, .out = inner, .kernel = 1, .activation = Relu6}));
  }
  layers.push_back(nn::New<ConvNorm>(
      {.in = inner, .out = inner, .stride = o.stride, .groups = inner, .activation = Relu6}));
  layers.push_back(
      nn::New<nn::Conv2d>({.in = inner,
                           .out = o.out,
                           .kernel = 1,
                           .bias = false,
                           .weight_init = nn::init::KaimingNormal({.fan = nn::init::Fan::kOut})}));
  layers.push_back(nn::New<nn::BatchNorm2d>({.channels = o.out}));
  return layers;
}

struct Stage {
  int64_t expansion, channels, units, stride;
};
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

int64_t LastChannels(double width) { return RoundChannels(1280 * std::max(1.0, width)); }

std::vector<nn::LayerSpec> FeatureLayers(double width) {
  ExpectPositive("width", width, "zoo::MobilenetV2");
  int64_t in = RoundChannels(32 * width);
  std::vector<nn::LayerSpec> layers = {
      nn::New<ConvNorm>({.in = 3, .out = in, .stride = 2, .activation = Relu6})};
  for (const Stage& stage : kStages) {
    MobilenetV2UnitOptions unit = {
        .in = in,
        .out = RoundChannels(static_cast<double>(stage.channels) * width),
        .stride = stage.stride,
        .expansion = stage.expansion};
    for (int64_t i = 0; i < stage.units; ++i) {
      layers.push_back(nn::New<MobilenetV2Unit>(unit));
      unit.in = unit.out;
      unit.stride = 1;
    }
    in = unit.out;
  }
  layers.push_back(
      nn::New<ConvNorm>({.in = in, .out = LastChannels(width), .kernel = 1, .activation = Relu6}));
  return layers;
}

}  // namespace

MobilenetV2Unit::MobilenetV2Unit(const Options& options)
    : LayerWithOptions(options), conv_(Add<nn::Sequential>("conv", UnitLayers(options))) {}

Tensor MobilenetV2Unit::Forward(const Tensor& x) {
  const bool keeps = options().stride == 1 && options().in == options().out;
  return keeps ? x + conv_(x) : conv_(x);
}

MobilenetV2::MobilenetV2(const Options& options)
    : LayerWithOptions(options),
      features_(Add<nn::Sequential>("features", FeatureLayers(options.width))),
      classifier_(Add<nn::Sequential>(
          "classifier", {nn::New<nn::Dropout>({.p = options.dropout}),
                         nn::New<nn::Linear>({.in = LastChannels(options.width),
                                              .out = options.classes,
                                              .weight_init = nn::init::Normal(0, 0.01),
                                              .bias_init = nn::init::Constant(0)})})) {}

Tensor MobilenetV2::Forward(const Tensor& x) { return classifier_(Mean(features_(x), {2, 3})); }

namespace {

const PublishedClassifiers<MobilenetV2Options>& All() {
  static const auto* const all =
      new PublishedClassifiers<MobilenetV2Options>{{"mobilenet_v2", {{}, 3'504'872, 0.301}}};
  return *all;
}

}  // namespace

MobilenetV2Options MobilenetV2Of(const std::string& name, const Options& options) {
  MobilenetV2Options of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> MobilenetV2Networks() {
  return ClassifiersOf<MobilenetV2>(
      All(), MobilenetV2Of,
      "Sandler et al., \"MobileNetV2: inverted residuals and linear bottlenecks\", 2018");
}

}  // namespace firn::zoo
