#include "firn/nn/zoo/squeezenet.h"

#include "firn/nn/activation.h"
#include "firn/nn/dropout.h"
#include "firn/nn/pooling.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/join.h"

namespace firn::zoo {
namespace {

nn::ConvOptions ConvOf(int64_t in, int64_t out, int64_t kernel) {
  return {.in = in,
          .out = out,
          .kernel = kernel,
          .padding = kernel / 2,
          .weight_init = nn::init::KaimingUniform(),
          .bias_init = nn::init::Constant(0)};
}

std::vector<nn::LayerSpec> Features(const SqueezenetOptions& options) {
  nn::ConvOptions stem = options.early_pooling ? ConvOf(3, 64, 3) : ConvOf(3, 96, 7);
  stem.stride = 2;
  stem.padding = 0;
  // The units, out of eight, that pooling follows.
  const std::vector<size_t> pooled =
      options.early_pooling ? std::vector<size_t>{1, 3} : std::vector<size_t>{2, 6};
  const nn::LayerSpec pool = nn::New<nn::MaxPool2d>({.kernel = 3, .stride = 2, .ceil_mode = true});
  std::vector<nn::LayerSpec> layers = {nn::New<nn::Conv2d>(stem), nn::New<nn::Relu>(), pool};
  int64_t in = stem.out;
  for (size_t unit = 0; unit < 8; ++unit) {
    const int64_t squeezed = 16 * (static_cast<int64_t>(unit) / 2 + 1);
    layers.push_back(
        nn::New<SqueezenetFire>({.in = in, .squeezed = squeezed, .expanded = 4 * squeezed}));
    in = 8 * squeezed;
    if (unit == pooled[0] || unit == pooled[1]) layers.push_back(pool);
  }
  return layers;
}

std::vector<nn::LayerSpec> Classifier(const SqueezenetOptions& options) {
  nn::ConvOptions last = ConvOf(512, options.classes, 1);
  last.weight_init = nn::init::Normal(0, 0.01);
  return {nn::New<nn::Dropout>({.p = options.dropout}), nn::New<nn::Conv2d>(last),
          nn::New<nn::Relu>()};
}

}  // namespace

SqueezenetFire::SqueezenetFire(const Options& options)
    : LayerWithOptions(options),
      squeeze_(Add<nn::Conv2d>("squeeze", ConvOf(options.in, options.squeezed, 1))),
      expand1x1_(Add<nn::Conv2d>("expand1x1", ConvOf(options.squeezed, options.expanded, 1))),
      expand3x3_(Add<nn::Conv2d>("expand3x3", ConvOf(options.squeezed, options.expanded, 3))) {}

Tensor SqueezenetFire::Forward(const Tensor& x) {
  const Tensor squeezed = Relu(squeeze_(x));
  return Concat({Relu(expand1x1_(squeezed)), Relu(expand3x3_(squeezed))}, 1);
}

Squeezenet::Squeezenet(const Options& options)
    : LayerWithOptions(options),
      features_(Add<nn::Sequential>("features", Features(options))),
      classifier_(Add<nn::Sequential>("classifier", Classifier(options))) {}

Tensor Squeezenet::Forward(const Tensor& x) { return Mean(classifier_(features_(x)), {2, 3}); }

namespace {

const PublishedClassifiers<SqueezenetOptions>& All() {
  static const auto* const all = new PublishedClassifiers<SqueezenetOptions>{
      {"squeezenet1_0", {{}, 1'248'424, 0.819}},
      {"squeezenet1_1", {{.early_pooling = true}, 1'235'496, 0.349}},
  };
  return *all;
}

}  // namespace

SqueezenetOptions SqueezenetOf(const std::string& name, const Options& options) {
  SqueezenetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> SqueezenetNetworks() {
  return ClassifiersOf<Squeezenet>(
      All(), SqueezenetOf,
      "Iandola et al., \"SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB "
      "model size\", 2016");
}

}  // namespace firn::zoo
