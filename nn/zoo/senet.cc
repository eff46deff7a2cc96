// The first pooling has no padding and rounds up, as Caffe's does.
#include "firn/nn/zoo/senet.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/pooling.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

nn::BatchNormOptions NormOf(int64_t channels, bool relu) {
  return {.channels = channels,
          .activation = relu ? FusedActivation::kRelu : FusedActivation::kNone};
}

SenetOptions Checked(const SenetOptions& options) {
  bool right = options.units.size() == 4;
  for (const int64_t n : options.units) right = right && n > 0;
  if (!right) RaiseStatus(InvalidArgument("expected four positive numbers of units"), "zoo::Senet");
  if (options.groups < 1 || 128 % options.groups != 0) {
    RaiseStatus(
        InvalidArgument("expected a number of groups that divides 128, got ", options.groups),
        "zoo::Senet");
  }
  return options;
}

std::vector<nn::LayerSpec> Stem(bool deep) {
  std::vector<nn::ConvOptions> convs = {PaddedConv(3, 64, 7, 2)};
  if (deep) convs = {PaddedConv(3, 64, 3, 2), PaddedConv(64, 64, 3), PaddedConv(64, 128, 3)};
  std::vector<nn::LayerSpec> layers;
  for (size_t i = 0; i < convs.size(); ++i) {
    layers.push_back({absl::StrCat("conv", i + 1), nn::New<nn::Conv2d>(convs[i])});
    layers.push_back(
        {absl::StrCat("bn", i + 1), nn::New<nn::BatchNorm2d>(NormOf(convs[i].out, true))});
  }
  layers.push_back({"pool", nn::New<nn::MaxPool2d>({.kernel = 3, .stride = 2, .ceil_mode = true})});
  return layers;
}

}  // namespace

SenetUnit::SenetUnit(const Options& options)
    : LayerWithOptions(options),
      gate_(Add<SqueezeExcitation>("se_module", {.channels = options.out(),
                                                 .squeezed = options.out() / options.reduction})) {
  const int64_t width = options.width, out = options.out();
  if (options.groups == 1) {
    AddConv(PaddedConv(options.in, width, 1, options.stride));
    AddConv(PaddedConv(width, width, 3));
    AddConv(PaddedConv(width, out, 1));
  } else {
    AddConv(PaddedConv(options.in, 2 * width, 1));
    AddConv(PaddedConv(2 * width, out, 3, options.stride, options.groups));
    AddConv(PaddedConv(out, out, 1));
  }
  if (options.stride != 1 || options.in != out) {
    downsample_ = &Add<nn::Sequential>(
        "downsample",
        {nn::New<nn::Conv2d>(PaddedConv(options.in, out, options.shortcut_kernel, options.stride)),
         nn::New<nn::BatchNorm2d>({.channels = out})});
  }
}

void SenetUnit::AddConv(const nn::ConvOptions& conv) {
  const size_t index = convs_.size() + 1;
  convs_.push_back(&Add<nn::Conv2d>(absl::StrCat("conv", index), conv));
  norms_.push_back(&Add<nn::BatchNorm2d>(absl::StrCat("bn", index), NormOf(conv.out, index < 3)));
}

Tensor SenetUnit::Forward(const Tensor& x) {
  Tensor h = x;
  for (size_t i = 0; i < convs_.size(); ++i) h = (*norms_[i])((*convs_[i])(h));
  return Relu(gate_(h) + (downsample_ == nullptr ? x : (*downsample_)(x)));
}

Senet::Senet(const Options& options)
    : LayerWithOptions(Checked(options)),
      stem_(Add<nn::Sequential>("layer0", Stem(options.groups > 1))),
      dropout_(Add<nn::Dropout>("dropout", {.p = options.dropout})),
      last_linear_(Add<nn::Linear>("last_linear", {.in = 2048, .out = options.classes})) {
  SenetUnitOptions unit = {.in = options.groups > 1 ? 128 : 64, .groups = options.groups};
  for (size_t stage = 0; stage < 4; ++stage) {
    layers_.push_back(&Add<nn::ModuleList<SenetUnit>>(absl::StrCat("layer", stage + 1)));
    unit.width = int64_t{64} << stage;
    unit.stride = stage == 0 ? 1 : 2;
    unit.shortcut_kernel = stage == 0 || options.groups == 1 ? 1 : 3;
    for (int64_t i = 0; i < options.units[stage]; ++i) {
      layers_[stage]->Append(unit);
      unit.in = unit.out();
      unit.stride = 1;
    }
  }
}

Tensor Senet::Forward(const Tensor& x) {
  Tensor h = stem_(x);
  for (nn::ModuleList<SenetUnit>* layer : layers_) {
    for (SenetUnit& unit : *layer) h = unit(h);
  }
  return last_linear_(dropout_(Mean(h, {2, 3})));
}

namespace {

const PublishedClassifiers<SenetOptions>& All() {
  static const auto* const all = new PublishedClassifiers<SenetOptions>{
      {"se_resnet50", {{.units = {3, 4, 6, 3}}, 28'088'024, 3.87}},
      {"senet154", {{.units = {3, 8, 36, 3}, .groups = 64, .dropout = 0.2}, 115'088'984, 20.77}},
  };
  return *all;
}

}  // namespace

SenetOptions SenetOf(const std::string& name, const Options& options) {
  SenetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> SenetNetworks() {
  std::vector<Network> networks =
      ClassifiersOf<Senet>(All(), SenetOf, "Hu et al., \"Squeeze-and-excitation networks\", 2017");
  for (Network& n : networks) n.origin = "pretrainedmodels." + n.name;
  return networks;
}

}  // namespace firn::zoo
