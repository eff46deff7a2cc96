#include "firn/nn/zoo/efficientnet.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/nn/zoo/inverted_residual.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

int64_t Wide(int64_t channels, const EfficientnetOptions& o) {
  return RoundChannels(static_cast<double>(channels) * o.width);
}

int64_t Deep(int64_t units, const EfficientnetOptions& o) {
  return static_cast<int64_t>(std::ceil(static_cast<double>(units) * o.depth));
}

int64_t LastChannels(const EfficientnetOptions& o) {
  return o.last > 0 ? o.last : 4 * Wide(o.stages.back().channels, o);
}

nn::LayerSpec ConvOf(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                     const EfficientnetOptions& o) {
  return nn::New<ConvNorm>({.in = in,
                            .out = out,
                            .kernel = kernel,
                            .stride = stride,
                            .activation = Silu,
                            .eps = o.eps,
                            .momentum = o.momentum});
}

InvertedResidualOptions UnitOf(const EfficientnetStage& stage, int64_t in,
                               const EfficientnetOptions& o) {
  return {.in = in,
          .expanded = RoundChannels(static_cast<double>(in) * static_cast<double>(stage.expansion)),
          .out = Wide(stage.channels, o),
          .kernel = stage.kernel,
          .stride = stage.stride,
          .squeezed = stage.fused ? 0 : std::max<int64_t>(1, in / 4),
          .fused = stage.fused,
          .activation = Silu,
          .squeeze_activation = Silu,
          .eps = o.eps,
          .momentum = o.momentum};
}

EfficientnetOptions Checked(const EfficientnetOptions& o) {
  ExpectPositive("width", o.width, "zoo::Efficientnet");
  ExpectPositive("depth", o.depth, "zoo::Efficientnet");
  bool right = !o.stages.empty();
  for (const EfficientnetStage& stage : o.stages) right = right && stage.units > 0;
  if (!right) {
    RaiseStatus(
        InvalidArgument("expected stages of one unit at least, got ", o.stages.size(), " stages"),
        "zoo::Efficientnet");
  }
  return o;
}

std::vector<nn::LayerSpec> FeatureLayers(const EfficientnetOptions& o) {
  double units = 0, made = 0;
  for (const EfficientnetStage& stage : o.stages) {
    units += static_cast<double>(Deep(stage.units, o));
  }
  int64_t in = Wide(o.stem, o);
  std::vector<nn::LayerSpec> layers = {ConvOf(3, in, 3, 2, o)};
  for (const EfficientnetStage& stage : o.stages) {
    std::vector<nn::LayerSpec> stage_units;
    EfficientnetStage next = stage;
    for (int64_t i = 0; i < Deep(stage.units, o); ++i) {
      InvertedResidualOptions unit = UnitOf(next, in, o);
      unit.stochastic_depth = o.stochastic_depth * made++ / units;
      stage_units.push_back(nn::New<InvertedResidual>(unit));
      in = unit.out;
      next.stride = 1;
    }
    layers.push_back(nn::New<nn::Sequential>(stage_units));
  }
  layers.push_back(ConvOf(in, LastChannels(o), 1, 1, o));
  return layers;
}

std::vector<nn::LayerSpec> ClassifierLayers(const EfficientnetOptions& o) {
  const double bound = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, o.classes)));
  return {nn::New<nn::Dropout>({.p = o.dropout}),
          nn::New<nn::Linear>({.in = LastChannels(o),
                               .out = o.classes,
                               .weight_init = nn::init::Uniform(-bound, bound),
                               .bias_init = nn::init::Constant(0)})};
}

}  // namespace

Efficientnet::Efficientnet(const Options& options)
    : LayerWithOptions(Checked(options)),
      features_(Add<nn::Sequential>("features", FeatureLayers(options))),
      classifier_(Add<nn::Sequential>("classifier", ClassifierLayers(options))) {}

Tensor Efficientnet::Forward(const Tensor& x) { return classifier_(Mean(features_(x), {2, 3})); }

namespace {

constexpr double kWideEps = 1e-3;  // of B5 and above, and of version 2

EfficientnetOptions Scaled(double width, double depth, double dropout, bool wide_eps = false) {
  EfficientnetOptions o = {.width = width, .depth = depth, .dropout = dropout};
  if (wide_eps) {
    o.eps = kWideEps;
    o.momentum = 0.01;
  }
  return o;
}

EfficientnetOptions Second(std::vector<EfficientnetStage> stages, double dropout) {
  return {
      .stages = std::move(stages), .stem = 24, .last = 1280, .dropout = dropout, .eps = kWideEps};
}

const PublishedClassifiers<EfficientnetOptions>& All() {
  static const auto* const all = new PublishedClassifiers<EfficientnetOptions>{
      {"efficientnet_b0", {Scaled(1, 1, 0.2), 5'288'548, 0.386}},
      {"efficientnet_b1", {Scaled(1, 1.1, 0.2), 7'794'184, 0.687, 240}},
      {"efficientnet_b2", {Scaled(1.1, 1.2, 0.3), 9'109'994, 1.088, 288}},
      {"efficientnet_b3", {Scaled(1.2, 1.4, 0.3), 12'233'232, 1.827, 300}},
      {"efficientnet_b4", {Scaled(1.4, 1.8, 0.4), 19'341'616, 4.394, 380}},
      {"efficientnet_b5", {Scaled(1.6, 2.2, 0.4, true), 30'389'784, 10.266, 456}},
      {"efficientnet_b6", {Scaled(1.8, 2.6, 0.5, true), 43'040'704, 19.068, 528}},
      {"efficientnet_b7", {Scaled(2, 3.1, 0.5, true), 66'347'960, 37.746, 600}},
      {"efficientnet_v2_m",
       {Second({{1, 3, 1, 24, 3, true},
                {4, 3, 2, 48, 5, true},
                {4, 3, 2, 80, 5, true},
                {4, 3, 2, 160, 7},
                {6, 3, 1, 176, 14},
                {6, 3, 2, 304, 18},
                {6, 3, 1, 512, 5}},
               0.3),
        54'139'356, 24.582, 480,
        "Tan and Le, \"EfficientNetV2: smaller models and faster training\", 2021"}},
  };
  return *all;
}

}  // namespace

EfficientnetOptions EfficientnetOf(const std::string& name, const Options& options) {
  EfficientnetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  of.stochastic_depth = DropoutOr(options, of.stochastic_depth);
  return of;
}

std::vector<Network> EfficientnetNetworks() {
  return ClassifiersOf<Efficientnet>(
      All(), EfficientnetOf,
      "Tan and Le, \"EfficientNet: rethinking model scaling for convolutional neural networks\", "
      "2019");
}

}  // namespace firn::zoo
