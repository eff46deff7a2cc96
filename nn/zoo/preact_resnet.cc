// The first unit follows the stem's norm and relu, which both of its paths start from, and a norm
// and relu of their own follow the last unit, as the paper has it for ImageNet.
#include "firn/nn/zoo/preact_resnet.h"

#include <cstddef>
#include <map>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/init.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

nn::ConvOptions ConvOf(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return {.in = in,
          .out = out,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2,
          .bias = false,
          .weight_init = nn::init::KaimingNormal({.fan = nn::init::Fan::kOut})};
}

nn::BatchNormOptions NormOf(int64_t channels) {
  return {.channels = channels, .activation = FusedActivation::kRelu};
}

PreactResnetOptions Checked(const PreactResnetOptions& options) {
  bool right = options.units.size() == 4;
  for (const int64_t n : options.units) right = right && n > 0;
  if (!right) {
    RaiseStatus(InvalidArgument("expected four positive numbers of units"), "zoo::PreactResnet");
  }
  return options;
}

}  // namespace

PreactUnit::PreactUnit(const Options& options) : LayerWithOptions(options) {
  if (options.bottleneck) {
    AddConv(options.in, options.width, 1);
    AddConv(options.width, options.width, 3, options.stride);
    AddConv(options.width, options.out(), 1);
  } else {
    AddConv(options.in, options.width, 3, options.stride);
    AddConv(options.width, options.width, 3);
  }
  if (options.stride != 1 || options.in != options.out()) {
    downsample_ =
        &Add<nn::Conv2d>("downsample", ConvOf(options.in, options.out(), 1, options.stride));
  }
}

void PreactUnit::AddConv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  const size_t index = convs_.size() + 1;
  const bool normed = index == 1 && options().first;
  norms_.push_back(normed ? nullptr : &Add<nn::BatchNorm2d>(absl::StrCat("bn", index), NormOf(in)));
  convs_.push_back(&Add<nn::Conv2d>(absl::StrCat("conv", index), ConvOf(in, out, kernel, stride)));
}

Tensor PreactUnit::Forward(const Tensor& x) {
  const Tensor start = norms_[0] == nullptr ? x : (*norms_[0])(x);
  Tensor h = (*convs_[0])(start);
  for (size_t i = 1; i < convs_.size(); ++i) h = (*convs_[i])((*norms_[i])(h));
  return h + (downsample_ == nullptr ? x : (*downsample_)(start));
}

PreactResnet::PreactResnet(const Options& options)
    : LayerWithOptions(Checked(options)),
      conv1_(Add<nn::Conv2d>("conv1", ConvOf(3, 64, 7, 2))),
      bn1_(Add<nn::BatchNorm2d>("bn1", NormOf(64))),
      norm_(Add<nn::BatchNorm2d>("norm", NormOf(options.bottleneck ? 2048 : 512))),
      fc_(Add<nn::Linear>("fc", {.in = options.bottleneck ? 2048 : 512, .out = options.classes})) {
  PreactUnitOptions unit = {.bottleneck = options.bottleneck, .first = true};
  for (size_t stage = 0; stage < 4; ++stage) {
    layers_.push_back(&Add<nn::ModuleList<PreactUnit>>(absl::StrCat("layer", stage + 1)));
    unit.width = int64_t{64} << stage;
    unit.stride = stage == 0 ? 1 : 2;
    for (int64_t i = 0; i < options.units[stage]; ++i) {
      layers_[stage]->Append(unit);
      unit.in = unit.out();
      unit.stride = 1;
      unit.first = false;
    }
  }
}

Tensor PreactResnet::Forward(const Tensor& x) {
  Tensor h = MaxPool2d(bn1_(conv1_(x)), {.kernel = 3, .stride = 2, .padding = 1});
  for (nn::ModuleList<PreactUnit>* layer : layers_) {
    for (PreactUnit& unit : *layer) h = unit(h);
  }
  return fc_(Mean(norm_(h), {2, 3}));
}

namespace {

struct Published {
  PreactResnetOptions options;
  int64_t parameters;
};

const std::map<std::string, Published>& All() {
  static const auto* const all = new std::map<std::string, Published>{
      {"preact_resnet18", {{.units = {2, 2, 2, 2}}, 11'687'720}},
      {"preact_resnet50", {{.units = {3, 4, 6, 3}, .bottleneck = true}, 25'549'352}},
  };
  return *all;
}

}  // namespace

PreactResnetOptions PreactResnetOf(const std::string& name, const Options& options) {
  PreactResnetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  return of;
}

std::vector<Network> PreactResnetNetworks() {
  std::vector<Network> networks;
  for (const auto& [name, published] : All()) {
    networks.push_back({.name = name,
                        .paper = "He et al., \"Identity mappings in deep residual networks\", 2016",
                        .inputs = {Image(224)},
                        .classes = 1000,
                        .class_set = "imagenet",
                        .colours = ImagenetColours(),
                        .parameters = published.parameters,
                        .make = MakerOf<PreactResnet>(PreactResnetOf, name)});
  }
  return networks;
}

}  // namespace firn::zoo
