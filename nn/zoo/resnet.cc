#include "firn/nn/zoo/resnet.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

nn::ConvOptions ConvOf(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
  return {.in = in,
          .out = out,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2,
          .bias = false,
          .weight_init = nn::init::KaimingNormal({.fan = nn::init::Fan::kOut})};
}

ResnetOptions Checked(const ResnetOptions& options) {
  bool right = options.units.size() == 4;
  for (const int64_t n : options.units) right = right && n > 0;
  if (!right)
    RaiseStatus(InvalidArgument("expected four positive numbers of units"), "zoo::Resnet");
  const auto& dilated = options.dilated;
  if (!options.bottleneck && std::find(dilated.begin(), dilated.end(), true) != dilated.end()) {
    RaiseStatus(InvalidArgument("expected bottlenecks, or no dilation, which other units lack"),
                "zoo::Resnet");
  }
  return options;
}

}  // namespace

ResnetUnit::ResnetUnit(const Options& options) : LayerWithOptions(options) {
  const int64_t inner = options.width * options.group_width / 64 * options.groups;
  if (options.bottleneck) {
    AddConv(1, ConvOf(options.in, inner, 1), false);
    nn::ConvOptions wide = ConvOf(inner, inner, 3, options.stride);
    wide.groups = options.groups;
    wide.dilation = wide.padding.size = options.dilation;
    AddConv(2, wide, false);
    AddConv(3, ConvOf(inner, options.out(), 1), true);
  } else {
    AddConv(1, ConvOf(options.in, options.width, 3, options.stride), false);
    AddConv(2, ConvOf(options.width, options.width, 3), true);
  }
  if (options.stride != 1 || options.in != options.out()) {
    downsample_ = &Add<nn::Sequential>(
        "downsample", {nn::New<nn::Conv2d>(ConvOf(options.in, options.out(), 1, options.stride)),
                       nn::New<nn::BatchNorm2d>({.channels = options.out()})});
  }
}

void ResnetUnit::AddConv(int index, const nn::ConvOptions& conv, bool last) {
  convs_.push_back(&Add<nn::Conv2d>(absl::StrCat("conv", index), conv));
  norms_.push_back(&Add<nn::BatchNorm2d>(
      absl::StrCat("bn", index),
      {.channels = conv.out,
       .activation = last ? FusedActivation::kNone : FusedActivation::kRelu}));
}

Tensor ResnetUnit::Forward(const Tensor& x) {
  Tensor h = x;
  for (size_t i = 0; i < convs_.size(); ++i) h = (*norms_[i])((*convs_[i])(h));
  return Relu(h + (downsample_ == nullptr ? x : (*downsample_)(x)));
}

Resnet::Resnet(const Options& options)
    : LayerWithOptions(Checked(options)),
      conv1_(Add<nn::Conv2d>("conv1", options.small_images ? ConvOf(options.channels, 64, 3)
                                                           : ConvOf(options.channels, 64, 7, 2))),
      bn1_(Add<nn::BatchNorm2d>("bn1", {.channels = 64, .activation = FusedActivation::kRelu})),
      layers_(AddLayers(options)) {
  if (options.classes == 0) return;
  fc_ = &Add<nn::Linear>("fc", {.in = options.bottleneck ? 2048 : 512, .out = options.classes});
}

std::array<nn::ModuleList<ResnetUnit>*, 4> Resnet::AddLayers(const Options& options) {
  std::array<nn::ModuleList<ResnetUnit>*, 4> layers;
  int64_t in = 64, dilation = 1;
  for (size_t stage = 0; stage < 4; ++stage) {
    layers[stage] = &Add<nn::ModuleList<ResnetUnit>>(absl::StrCat("layer", stage + 1));
    ResnetUnitOptions unit = {.in = in,
                              .width = int64_t{64} << stage,
                              .stride = stage == 0 ? 1 : 2,
                              .bottleneck = options.bottleneck,
                              .groups = options.groups,
                              .group_width = options.group_width,
                              .dilation = dilation};
    if (stage > 0 && options.dilated[stage - 1]) {
      dilation *= unit.stride;
      unit.stride = 1;
    }
    for (int64_t i = 0; i < options.units[stage]; ++i) {
      layers[stage]->Append(unit);
      unit.in = unit.out();
      unit.stride = 1;
      unit.dilation = dilation;
    }
    in = unit.in;
  }
  return layers;
}

std::array<Tensor, 4> Resnet::Stages(const Tensor& x) {
  Tensor h = bn1_(conv1_(x));  // the norm applies relu
  if (!options().small_images) h = MaxPool2d(h, {.kernel = 3, .stride = 2, .padding = 1});
  std::array<Tensor, 4> made;
  for (size_t stage = 0; stage < 4; ++stage) {
    for (ResnetUnit& unit : *layers_[stage]) h = unit(h);
    made[stage] = h;
  }
  return made;
}

Tensor Resnet::Forward(const Tensor& x) {
  const Tensor means = Mean(Stages(x)[3], {2, 3});
  return fc_ == nullptr ? means : (*fc_)(means);
}

namespace {

constexpr const char* kResnext =
    "Xie et al., \"Aggregated residual transformations for deep neural networks\", 2016";
constexpr const char* kWide = "Zagoruyko and Komodakis, \"Wide residual networks\", 2016";

ResnetOptions Deep(std::vector<int64_t> units, int64_t groups = 1, int64_t group_width = 64) {
  return {
      .units = std::move(units), .bottleneck = true, .groups = groups, .group_width = group_width};
}

PublishedClassifier<ResnetOptions> Wider(std::vector<int64_t> units, int64_t groups,
                                         int64_t group_width, int64_t parameters,
                                         double giga_multiply_adds) {
  return {.options = Deep(std::move(units), groups, group_width),
          .parameters = parameters,
          .giga_multiply_adds = giga_multiply_adds,
          .paper = groups > 1 ? kResnext : kWide};
}

const PublishedClassifiers<ResnetOptions>& All() {
  static const auto* const all = new PublishedClassifiers<ResnetOptions>{
      {"resnet18", {{.units = {2, 2, 2, 2}}, 11'689'512, 1.814}},
      {"resnet34", {{.units = {3, 4, 6, 3}}, 21'797'672, 3.664}},
      {"resnet50", {Deep({3, 4, 6, 3}), 25'557'032, 4.089}},
      {"resnet101", {Deep({3, 4, 23, 3}), 44'549'160, 7.801}},
      {"resnet152", {Deep({3, 8, 36, 3}), 60'192'808, 11.514}},
      {"resnext50_32x4d", Wider({3, 4, 6, 3}, 32, 4, 25'028'904, 4.23)},
      {"resnext101_32x8d", Wider({3, 4, 23, 3}, 32, 8, 88'791'336, 16.414)},
      {"resnext101_64x4d", Wider({3, 4, 23, 3}, 64, 4, 83'455'272, 15.46)},
      {"wide_resnet50_2", Wider({3, 4, 6, 3}, 1, 128, 68'883'240, 11.398)},
      {"wide_resnet101_2", Wider({3, 4, 23, 3}, 1, 128, 126'886'696, 22.753)},
  };
  return *all;
}

}  // namespace

ResnetOptions ResnetOf(const std::string& name, const Options& options) {
  ResnetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.channels = ChannelsOr(options, of.channels);
  of.small_images = options.small_images;
  return of;
}

std::vector<Network> ResnetNetworks() {
  std::vector<Network> networks = ClassifiersOf<Resnet>(
      All(), ResnetOf, "He et al., \"Deep residual learning for image recognition\", 2015");
  for (Network& n : networks) n.any_channels = n.has_small_stem = true;
  return networks;
}

}  // namespace firn::zoo
