// Numbers of units and channels are those that the paper's linear rule gives after its rounding
// (its appendix, tables of RegNetX and RegNetY).
#include "firn/nn/zoo/regnet.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

using Layers = std::vector<nn::LayerSpec>;
constexpr int64_t kStem = 32;  // channels

Layers Branch(const RegnetUnitOptions& o) {
  Layers layers = {{"a", nn::New<ConvNorm>({.in = o.in, .out = o.out, .kernel = 1})},
                   {"b", nn::New<ConvNorm>(
                             {.in = o.out, .out = o.out, .stride = o.stride, .groups = o.groups})}};
  if (o.squeezed > 0) {
    layers.emplace_back("se",
                        nn::New<SqueezeExcitation>({.channels = o.out, .squeezed = o.squeezed}));
  }
  layers.emplace_back(
      "c", nn::New<ConvNorm>({.in = o.out, .out = o.out, .kernel = 1, .activation = nullptr}));
  return layers;
}

RegnetOptions Checked(const RegnetOptions& o) {
  bool right = !o.units.empty() && o.units.size() == o.widths.size() && o.group_width > 0;
  for (const int64_t n : o.units) right = right && n > 0;
  for (const int64_t w : o.widths) right = right && w > 0 && w % std::min(w, o.group_width) == 0;
  if (!right) {
    RaiseStatus(InvalidArgument("expected as many positive widths as numbers of units, in groups "
                                "of group_width, got units [",
                                absl::StrJoin(o.units, ", "), "], widths [",
                                absl::StrJoin(o.widths, ", "), "], group_width ", o.group_width),
                "zoo::Regnet");
  }
  return o;
}

Layers Trunk(const RegnetOptions& options) {
  Layers stages;
  int64_t in = kStem;
  for (size_t stage = 0; stage < options.units.size(); ++stage) {
    const int64_t out = options.widths[stage];
    const std::string name = absl::StrCat("block", stage + 1);
    Layers units;
    for (int64_t i = 0; i < options.units[stage]; ++i) {
      const auto squeezed = static_cast<int64_t>(std::nearbyint(0.25 * static_cast<double>(in)));
      units.emplace_back(absl::StrCat(name, "-", i),
                         nn::New<RegnetUnit>({.in = in,
                                              .out = out,
                                              .stride = i == 0 ? 2 : 1,
                                              .groups = out / std::min(out, options.group_width),
                                              .squeezed = options.squeezes ? squeezed : 0}));
      in = out;
    }
    stages.emplace_back(name, nn::New<nn::Sequential>(units));
  }
  return stages;
}

}  // namespace

RegnetUnit::RegnetUnit(const Options& options)
    : LayerWithOptions(options),
      proj_(options.in == options.out && options.stride == 1
                ? nullptr
                : &Add<ConvNorm>("proj", {.in = options.in,
                                          .out = options.out,
                                          .kernel = 1,
                                          .stride = options.stride,
                                          .activation = nullptr})),
      f_(Add<nn::Sequential>("f", Branch(options))) {}

Tensor RegnetUnit::Forward(const Tensor& x) {
  return Relu((proj_ == nullptr ? x : (*proj_)(x)) + f_(x));
}

Regnet::Regnet(const Options& options)
    : LayerWithOptions(Checked(options)),
      stem_(Add<ConvNorm>("stem", {.in = 3, .out = kStem, .stride = 2})),
      trunk_output_(Add<nn::Sequential>("trunk_output", Trunk(options))),
      fc_(Add<nn::Linear>("fc", {.in = options.widths.back(),
                                 .out = options.classes,
                                 .weight_init = nn::init::Normal(0, 0.01),
                                 .bias_init = nn::init::Constant(0)})) {}

Tensor Regnet::Forward(const Tensor& x) { return fc_(Mean(trunk_output_(stem_(x)), {2, 3})); }

namespace {

using Numbers = std::vector<int64_t>;

RegnetOptions X(Numbers units, Numbers widths, int64_t group_width) {
  return {.units = std::move(units), .widths = std::move(widths), .group_width = group_width};
}

RegnetOptions Y(Numbers units, Numbers widths, int64_t group_width) {
  RegnetOptions o = X(std::move(units), std::move(widths), group_width);
  o.squeezes = true;
  return o;
}

const PublishedClassifiers<RegnetOptions>& All() {
  static const auto* const all = new PublishedClassifiers<RegnetOptions>{
      {"regnet_x_400mf", {X({1, 2, 7, 12}, {32, 64, 160, 400}, 16), 5'495'976, 0.414}},
      {"regnet_x_800mf", {X({1, 3, 7, 5}, {64, 128, 288, 672}, 16), 7'259'656, 0.8}},
      {"regnet_x_1_6gf", {X({2, 4, 10, 2}, {72, 168, 408, 912}, 24), 9'190'136, 1.603}},
      {"regnet_x_3_2gf", {X({2, 6, 15, 2}, {96, 192, 432, 1008}, 48), 15'296'552, 3.177}},
      {"regnet_x_8gf", {X({2, 5, 15, 1}, {80, 240, 720, 1920}, 120), 39'572'648, 7.995}},
      {"regnet_x_16gf", {X({2, 6, 13, 1}, {256, 512, 896, 2048}, 128), 54'278'536, 15.941}},
      {"regnet_y_400mf", {Y({1, 3, 6, 6}, {48, 104, 208, 440}, 8), 4'344'144, 0.402}},
      {"regnet_y_800mf", {Y({1, 3, 8, 2}, {64, 144, 320, 784}, 16), 6'432'512, 0.834}},
      {"regnet_y_1_6gf", {Y({2, 6, 17, 2}, {48, 120, 336, 888}, 24), 11'202'430, 1.612}},
      {"regnet_y_3_2gf", {Y({2, 5, 13, 1}, {72, 216, 576, 1512}, 24), 19'436'338, 3.176}},
      {"regnet_y_8gf", {Y({2, 4, 10, 1}, {224, 448, 896, 2016}, 56), 39'381'472, 8.473}},
      {"regnet_y_16gf", {Y({2, 4, 11, 1}, {224, 448, 1232, 3024}, 112), 83'590'140, 15.912}},
  };
  return *all;
}

}  // namespace

RegnetOptions RegnetOf(const std::string& name, const Options& options) {
  RegnetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  return of;
}

std::vector<Network> RegnetNetworks() {
  return ClassifiersOf<Regnet>(All(), RegnetOf,
                               "Radosavovic et al., \"Designing network design spaces\", 2020");
}

}  // namespace firn::zoo
