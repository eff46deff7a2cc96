// Names count activations too, though they are no layers here: a norm applies the activation behind
// it.
#include "firn/nn/zoo/mnasnet.h"

#include "absl/strings/str_cat.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/nn/zoo/conv_norm.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

using Layers = std::vector<nn::LayerSpec>;
constexpr int64_t kLast = 1280;  // channels
constexpr double kMomentum = 1 - 0.9997;

struct Conv {
  int64_t in, out, kernel = 1, stride = 1, groups = 1;
};

// A convolution and its norm, called by their positions from `at` on.
void AddNormed(Layers& layers, int at, const Conv& c, FusedActivation activation) {
  layers.emplace_back(
      absl::StrCat(at),
      nn::New<nn::Conv2d>({.in = c.in,
                           .out = c.out,
                           .kernel = c.kernel,
                           .stride = c.stride,
                           .padding = c.kernel / 2,
                           .groups = c.groups,
                           .bias = false,
                           .weight_init = nn::init::KaimingNormal({.fan = nn::init::Fan::kOut})}));
  layers.emplace_back(absl::StrCat(at + 1),
                      nn::New<nn::BatchNorm2d>(
                          {.channels = c.out, .momentum = kMomentum, .activation = activation}));
}

Layers UnitLayers(const MnasnetUnitOptions& o) {
  const int64_t inner = o.in * o.expansion;
  Layers layers;
  AddNormed(layers, 0, {.in = o.in, .out = inner}, FusedActivation::kRelu);
  AddNormed(layers, 3,
            {.in = inner, .out = inner, .kernel = o.kernel, .stride = o.stride, .groups = inner},
            FusedActivation::kRelu);
  AddNormed(layers, 6, {.in = inner, .out = o.out}, FusedActivation::kNone);
  return layers;
}

struct Stage {
  int64_t channels, kernel, stride, expansion, units;
};
constexpr Stage kStages[] = {{24, 3, 2, 3, 3}, {40, 5, 2, 3, 3},  {80, 5, 2, 6, 3},
                             {96, 3, 1, 6, 2}, {192, 5, 2, 6, 4}, {320, 3, 1, 6, 1}};

Layers AllLayers(double width) {
  ExpectPositive("width", width, "zoo::Mnasnet");
  const int64_t stem = RoundChannels(32 * width);
  int64_t in = RoundChannels(16 * width);
  Layers layers;
  AddNormed(layers, 0, {.in = 3, .out = stem, .kernel = 3, .stride = 2}, FusedActivation::kRelu);
  AddNormed(layers, 3, {.in = stem, .out = stem, .kernel = 3, .groups = stem},
            FusedActivation::kRelu);
  AddNormed(layers, 6, {.in = stem, .out = in}, FusedActivation::kNone);
  int at = 8;
  for (const Stage& stage : kStages) {
    MnasnetUnitOptions unit = {.in = in,
                               .out = RoundChannels(static_cast<double>(stage.channels) * width),
                               .kernel = stage.kernel,
                               .stride = stage.stride,
                               .expansion = stage.expansion};
    Layers units;
    for (int64_t i = 0; i < stage.units; ++i) {
      units.push_back(nn::New<MnasnetUnit>(unit));
      unit.in = unit.out;
      unit.stride = 1;
    }
    in = unit.out;
    layers.emplace_back(absl::StrCat(at++), nn::New<nn::Sequential>(units));
  }
  AddNormed(layers, at, {.in = in, .out = kLast}, FusedActivation::kRelu);
  return layers;
}

}  // namespace

MnasnetUnit::MnasnetUnit(const Options& options)
    : LayerWithOptions(options), layers_(Add<nn::Sequential>("layers", UnitLayers(options))) {}

Tensor MnasnetUnit::Forward(const Tensor& x) {
  const bool keeps = options().stride == 1 && options().in == options().out;
  return keeps ? layers_(x) + x : layers_(x);
}

Mnasnet::Mnasnet(const Options& options)
    : LayerWithOptions(options),
      layers_(Add<nn::Sequential>("layers", AllLayers(options.width))),
      classifier_(Add<nn::Sequential>(
          "classifier",
          {nn::New<nn::Dropout>({.p = options.dropout}),
           nn::New<nn::Linear>({.in = kLast,
                                .out = options.classes,
                                .weight_init = nn::init::KaimingUniform(
                                    {.gain = nn::init::kLinearGain, .fan = nn::init::Fan::kOut}),
                                .bias_init = nn::init::Constant(0)})})) {}

Tensor Mnasnet::Forward(const Tensor& x) { return classifier_(Mean(layers_(x), {2, 3})); }

namespace {

const PublishedClassifiers<MnasnetOptions>& All() {
  static const auto* const all = new PublishedClassifiers<MnasnetOptions>{
      {"mnasnet0_5", {{.width = 0.5}, 2'218'512, 0.104}},
      {"mnasnet0_75", {{.width = 0.75}, 3'170'208, 0.215}},
      {"mnasnet1_0", {{.width = 1}, 4'383'312, 0.314}},
      {"mnasnet1_3", {{.width = 1.3}, 6'282'256, 0.526}},
  };
  return *all;
}

}  // namespace

MnasnetOptions MnasnetOf(const std::string& name, const Options& options) {
  MnasnetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> MnasnetNetworks() {
  return ClassifiersOf<Mnasnet>(
      All(), MnasnetOf,
      "Tan et al., \"MnasNet: platform-aware neural architecture search for mobile\", 2018");
}

}  // namespace firn::zoo
