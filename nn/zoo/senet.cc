// The first pooling has no padding and rounds up, as Caffe's does.
#include "firn/nn/zoo/senet.h"

#include <cstddef>
#include <map>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/pooling.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

nn::ConvOptions ConvOf(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
  return {.in = in,
          .out = out,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2,
          .bias = false};
}

nn::BatchNormOptions NormOf(int64_t channels, bool relu) {
  return {.channels = channels,
          .activation = relu ? FusedActivation::kRelu : FusedActivation::kNone};
}

SenetOptions Checked(const SenetOptions& options) {
  bool right = options.units.size() == 4;
  for (const int64_t n : options.units) right = right && n > 0;
  if (!right) RaiseStatus(InvalidArgument("expected four positive numbers of units"), "zoo::Senet");
  return options;
}

std::vector<nn::LayerSpec> Stem() {
  return {{"conv1", nn::New<nn::Conv2d>(ConvOf(3, 64, 7, 2))},
          {"bn1", nn::New<nn::BatchNorm2d>(NormOf(64, true))},
          {"pool", nn::New<nn::MaxPool2d>({.kernel = 3, .stride = 2, .ceil_mode = true})}};
}

}  // namespace

SenetUnit::SenetUnit(const Options& options)
    : LayerWithOptions(options),
      gate_(Add<SqueezeExcitation>("se_module", {.channels = options.out(),
                                                 .squeezed = options.out() / options.reduction})) {
  AddConv(options.in, options.width, 1, options.stride);
  AddConv(options.width, options.width, 3);
  AddConv(options.width, options.out(), 1);
  if (options.stride != 1 || options.in != options.out()) {
    downsample_ = &Add<nn::Sequential>(
        "downsample", {nn::New<nn::Conv2d>(ConvOf(options.in, options.out(), 1, options.stride)),
                       nn::New<nn::BatchNorm2d>({.channels = options.out()})});
  }
}

void SenetUnit::AddConv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  const size_t index = convs_.size() + 1;
  convs_.push_back(&Add<nn::Conv2d>(absl::StrCat("conv", index), ConvOf(in, out, kernel, stride)));
  norms_.push_back(&Add<nn::BatchNorm2d>(absl::StrCat("bn", index), NormOf(out, index < 3)));
}

Tensor SenetUnit::Forward(const Tensor& x) {
  Tensor h = x;
  for (size_t i = 0; i < convs_.size(); ++i) h = (*norms_[i])((*convs_[i])(h));
  return Relu(gate_(h) + (downsample_ == nullptr ? x : (*downsample_)(x)));
}

Senet::Senet(const Options& options)
    : LayerWithOptions(Checked(options)),
      stem_(Add<nn::Sequential>("layer0", Stem())),
      last_linear_(Add<nn::Linear>("last_linear", {.in = 2048, .out = options.classes})) {
  SenetUnitOptions unit;
  for (size_t stage = 0; stage < 4; ++stage) {
    layers_.push_back(&Add<nn::ModuleList<SenetUnit>>(absl::StrCat("layer", stage + 1)));
    unit.width = int64_t{64} << stage;
    unit.stride = stage == 0 ? 1 : 2;
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
  return last_linear_(Mean(h, {2, 3}));
}

namespace {

struct Published {
  SenetOptions options;
  int64_t parameters;
  double giga_multiply_adds;
};

const std::map<std::string, Published>& All() {
  static const auto* const all = new std::map<std::string, Published>{
      {"se_resnet50", {{.units = {3, 4, 6, 3}}, 28'088'024, 3.87}},
  };
  return *all;
}

}  // namespace

SenetOptions SenetOf(const std::string& name, const Options& options) {
  SenetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  return of;
}

std::vector<Network> SenetNetworks() {
  std::vector<Network> networks;
  for (const auto& [name, published] : All()) {
    networks.push_back({.name = name,
                        .paper = "Hu et al., \"Squeeze-and-excitation networks\", 2017",
                        .origin = "pretrainedmodels." + name,
                        .inputs = {Image(224)},
                        .classes = 1000,
                        .class_set = "imagenet",
                        .colours = ImagenetColours(),
                        .parameters = published.parameters,
                        .giga_multiply_adds = published.giga_multiply_adds,
                        .make = MakerOf<Senet>(SenetOf, name)});
  }
  return networks;
}

}  // namespace firn::zoo
