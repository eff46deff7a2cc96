#include "firn/nn/zoo/alexnet.h"

#include "firn/nn/activation.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/linear.h"
#include "firn/nn/pooling.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

using Layers = std::vector<nn::LayerSpec>;

Layers Features() {
  const auto conv = [](int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding) {
    return nn::New<nn::Conv2d>(
        {.in = in, .out = out, .kernel = kernel, .stride = stride, .padding = padding});
  };
  const nn::LayerSpec relu = nn::New<nn::Relu>();
  const nn::LayerSpec pool = nn::New<nn::MaxPool2d>({.kernel = 3, .stride = 2});
  return {conv(3, 64, 11, 4, 2),
          relu,
          pool,
          conv(64, 192, 5, 1, 2),
          relu,
          pool,
          conv(192, 384, 3, 1, 1),
          relu,
          conv(384, 256, 3, 1, 1),
          relu,
          conv(256, 256, 3, 1, 1),
          relu,
          pool};
}

Layers Classifier(const AlexnetOptions& options) {
  const nn::LayerSpec relu = nn::New<nn::Relu>();
  const nn::LayerSpec drop = nn::New<nn::Dropout>({.p = options.dropout});
  return {drop,
          nn::New<nn::Linear>({.in = 256 * 6 * 6, .out = 4096}),
          relu,
          drop,
          nn::New<nn::Linear>({.in = 4096, .out = 4096}),
          relu,
          nn::New<nn::Linear>({.in = 4096, .out = options.classes})};
}

}  // namespace

Alexnet::Alexnet(const Options& options)
    : LayerWithOptions(options),
      features_(Add<nn::Sequential>("features", Features())),
      classifier_(Add<nn::Sequential>("classifier", Classifier(options))) {}

Tensor Alexnet::Forward(const Tensor& x) {
  return classifier_(Flatten(AdaptiveAvgPool2d(features_(x), 6), 1));
}

namespace {

const PublishedClassifiers<AlexnetOptions>& All() {
  static const auto* const all =
      new PublishedClassifiers<AlexnetOptions>{{"alexnet", {{}, 61'100'840, 0.714}}};
  return *all;
}

}  // namespace

AlexnetOptions AlexnetOf(const std::string& name, const Options& options) {
  AlexnetOptions of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> AlexnetNetworks() {
  return ClassifiersOf<Alexnet>(All(), AlexnetOf,
                                "Krizhevsky, \"One weird trick for parallelizing convolutional "
                                "neural networks\", 2014");
}

}  // namespace firn::zoo
