#include "firn/nn/zoo/vgg.h"

#include <algorithm>

#include "firn/device/status_macros.h"
#include "firn/nn/activation.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/nn/pooling.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

using Layers = std::vector<nn::LayerSpec>;

Layers Features(const VggOptions& options) {
  if (options.convolutions.size() != 5 ||
      *std::min_element(options.convolutions.begin(), options.convolutions.end()) < 1) {
    RaiseStatus(InvalidArgument("expected five positive numbers of convolutions"), "zoo::Vgg");
  }
  Layers layers;
  int64_t in = 3;
  for (size_t stage = 0; stage < 5; ++stage) {
    const int64_t out = std::min(int64_t{64} << stage, int64_t{512});
    for (int64_t i = 0; i < options.convolutions[stage]; ++i) {
      layers.push_back(
          nn::New<nn::Conv2d>({.in = in,
                               .out = out,
                               .kernel = 3,
                               .padding = 1,
                               .weight_init = nn::init::KaimingNormal({.fan = nn::init::Fan::kOut}),
                               .bias_init = nn::init::Constant(0)}));
      if (options.batch_norm) layers.push_back(nn::New<nn::BatchNorm2d>({.channels = out}));
      layers.push_back(nn::New<nn::Relu>());
      in = out;
    }
    layers.push_back(nn::New<nn::MaxPool2d>({.kernel = 2}));
  }
  return layers;
}

Layers Classifier(const VggOptions& options) {
  const auto linear = [](int64_t in, int64_t out) {
    return nn::New<nn::Linear>({.in = in,
                                .out = out,
                                .weight_init = nn::init::Normal(0, 0.01),
                                .bias_init = nn::init::Constant(0)});
  };
  const nn::LayerSpec relu = nn::New<nn::Relu>();
  const nn::LayerSpec drop = nn::New<nn::Dropout>({.p = options.dropout});
  return {linear(512 * 7 * 7, 4096),    relu, drop, linear(4096, 4096), relu, drop,
          linear(4096, options.classes)};
}

}  // namespace

Vgg::Vgg(const Options& options)
    : LayerWithOptions(options),
      features_(Add<nn::Sequential>("features", Features(options))),
      classifier_(Add<nn::Sequential>("classifier", Classifier(options))) {}

Tensor Vgg::Forward(const Tensor& x) {
  return classifier_(Flatten(AdaptiveAvgPool2d(features_(x), 7), 1));
}

namespace {

const PublishedClassifiers<VggOptions>& All() {
  static const auto* const all = new PublishedClassifiers<VggOptions>{
      {"vgg11", {{.convolutions = {1, 1, 2, 2, 2}}, 132'863'336, 7.609}},
      {"vgg13", {{.convolutions = {2, 2, 2, 2, 2}}, 133'047'848, 11.308}},
      {"vgg16", {{.convolutions = {2, 2, 3, 3, 3}}, 138'357'544, 15.47}},
      {"vgg19", {{.convolutions = {2, 2, 4, 4, 4}}, 143'667'240, 19.632}},
      {"vgg11_bn", {{.convolutions = {1, 1, 2, 2, 2}, .batch_norm = true}, 132'868'840, 7.609}},
      {"vgg13_bn", {{.convolutions = {2, 2, 2, 2, 2}, .batch_norm = true}, 133'053'736, 11.308}},
      {"vgg16_bn", {{.convolutions = {2, 2, 3, 3, 3}, .batch_norm = true}, 138'365'992, 15.47}},
      {"vgg19_bn", {{.convolutions = {2, 2, 4, 4, 4}, .batch_norm = true}, 143'678'248, 19.632}},
  };
  return *all;
}

}  // namespace

VggOptions VggOf(const std::string& name, const Options& options) {
  VggOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> VggNetworks() {
  return ClassifiersOf<Vgg>(All(), VggOf,
                            "Simonyan and Zisserman, \"Very deep convolutional networks for "
                            "large-scale image recognition\", 2014");
}

}  // namespace firn::zoo
