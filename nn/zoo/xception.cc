// A unit's parts are one list, in which relus have numbers too: rep.0 is a relu in all units but
// the first.
#include "firn/nn/zoo/xception.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/activation.h"
#include "firn/nn/pooling.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

nn::BatchNormOptions WithRelu(int64_t channels) {
  return {.channels = channels, .activation = FusedActivation::kRelu};
}

std::vector<nn::LayerSpec> Rep(const XceptionUnitOptions& o) {
  std::vector<nn::LayerSpec> layers;
  for (int64_t i = 0; i < o.convolutions; ++i) {
    const int64_t in = i == 0 || !o.grows_first ? o.in : o.out;
    const int64_t out = o.grows_first || i + 1 == o.convolutions ? o.out : o.in;
    if (i > 0 || o.starts_relu) layers.push_back(nn::New<nn::Relu>());
    layers.push_back(nn::New<SeparableConv>({.in = in, .out = out}));
    layers.push_back(nn::New<nn::BatchNorm2d>({.channels = out}));
  }
  if (o.stride != 1) {
    layers.push_back(nn::New<nn::MaxPool2d>({.kernel = 3, .stride = o.stride, .padding = 1}));
  }
  return layers;
}

}  // namespace

SeparableConv::SeparableConv(const Options& options)
    : LayerWithOptions(options),
      conv1_(Add<nn::Conv2d>("conv1", {.in = options.in,
                                       .out = options.in,
                                       .kernel = 3,
                                       .padding = 1,
                                       .groups = options.in,
                                       .bias = false})),
      pointwise_(
          Add<nn::Conv2d>("pointwise", {.in = options.in, .out = options.out, .bias = false})) {}

Tensor SeparableConv::Forward(const Tensor& x) { return pointwise_(conv1_(x)); }

XceptionUnit::XceptionUnit(const Options& options)
    : LayerWithOptions(options), rep_(Add<nn::Sequential>("rep", Rep(options))) {
  if (options.in == options.out && options.stride == 1) return;
  skip_ = &Add<nn::Conv2d>(
      "skip", {.in = options.in, .out = options.out, .stride = options.stride, .bias = false});
  skipbn_ = &Add<nn::BatchNorm2d>("skipbn", {.channels = options.out});
}

Tensor XceptionUnit::Forward(const Tensor& x) {
  return rep_(x) + (skip_ == nullptr ? x : (*skipbn_)((*skip_)(x)));
}

Xception::Xception(const Options& options)
    : LayerWithOptions(options),
      conv1_(
          Add<nn::Conv2d>("conv1", {.in = 3, .out = 32, .kernel = 3, .stride = 2, .bias = false})),
      bn1_(Add<nn::BatchNorm2d>("bn1", WithRelu(32))),
      conv2_(Add<nn::Conv2d>("conv2", {.in = 32, .out = 64, .kernel = 3, .bias = false})),
      bn2_(Add<nn::BatchNorm2d>("bn2", WithRelu(64))),
      conv3_(Add<SeparableConv>("conv3", {.in = 1024, .out = 1536})),
      bn3_(Add<nn::BatchNorm2d>("bn3", WithRelu(1536))),
      conv4_(Add<SeparableConv>("conv4", {.in = 1536, .out = 2048})),
      bn4_(Add<nn::BatchNorm2d>("bn4", WithRelu(2048))),
      dropout_(Add<nn::Dropout>("dropout", {.p = options.dropout})),
      last_linear_(Add<nn::Linear>("last_linear", {.in = 2048, .out = options.classes})) {
  if (options.middle < 0) {
    RaiseStatus(InvalidArgument("expected a number of units, got ", options.middle),
                "zoo::Xception");
  }
  AddUnit({.in = 64, .out = 128, .convolutions = 2, .stride = 2, .starts_relu = false});
  AddUnit({.in = 128, .out = 256, .convolutions = 2, .stride = 2});
  AddUnit({.in = 256, .out = 728, .convolutions = 2, .stride = 2});
  for (int64_t i = 0; i < options.middle; ++i) AddUnit({});
  AddUnit({.in = 728, .out = 1024, .convolutions = 2, .stride = 2, .grows_first = false});
}

void Xception::AddUnit(const XceptionUnitOptions& unit) {
  units_.push_back(&Add<XceptionUnit>(absl::StrCat("block", units_.size() + 1), unit));
}

Tensor Xception::Forward(const Tensor& x) {
  Tensor h = bn2_(conv2_(bn1_(conv1_(x))));  // the norms apply relu
  for (XceptionUnit* unit : units_) h = (*unit)(h);
  h = bn4_(conv4_(bn3_(conv3_(h))));
  return last_linear_(dropout_(Mean(h, {2, 3})));
}

namespace {

const std::map<std::string, XceptionOptions>& All() {
  static const auto* const all = new std::map<std::string, XceptionOptions>{{"xception", {}}};
  return *all;
}

}  // namespace

XceptionOptions XceptionOf(const std::string& name, const Options& options) {
  XceptionOptions of = FindPublished(All(), name);
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> XceptionNetworks() {
  return {{.name = "xception",
           .paper = "Chollet, \"Xception: deep learning with depthwise separable convolutions\", "
                    "2016",
           .origin = "pretrainedmodels.xception",
           .inputs = {Image(299)},
           .classes = 1000,
           .class_set = "imagenet",
           .resize = 333,
           .colours = {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}},
           .parameters = 22'855'952,
           .giga_multiply_adds = 8.4,
           .make = MakerOf<Xception>(XceptionOf, "xception")}};
}

}  // namespace firn::zoo
