// Weights start as in the paper: normal with deviation 0.02.
#include "firn/nn/zoo/dcgan.h"

#include "firn/device/status_macros.h"
#include "firn/nn/activation.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/init.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

using Layers = std::vector<nn::LayerSpec>;

Layers GeneratorLayers(const DcganGeneratorOptions& o) {
  if (o.channels < 8 || o.channels % 8 != 0) {
    RaiseStatus(InvalidArgument("expected channels that 8 divides, got ", o.channels),
                "zoo::DcganGenerator");
  }
  Layers layers;
  const auto add = [&](int64_t in, int64_t out, bool first) {
    layers.push_back(nn::New<nn::ConvTranspose2d>({.in = in,
                                                   .out = out,
                                                   .kernel = 4,
                                                   .stride = first ? 1 : 2,
                                                   .padding = first ? 0 : 1,
                                                   .bias = false,
                                                   .weight_init = nn::init::Normal(0, 0.02)}));
  };
  int64_t in = o.latent;
  for (int64_t out = o.channels; out >= o.channels / 8; out /= 2) {
    add(in, out, layers.empty());
    layers.push_back(nn::New<nn::BatchNorm2d>({.channels = out}));
    layers.push_back(nn::New<nn::Relu>());
    in = out;
  }
  add(in, o.out, false);
  layers.push_back(nn::New<nn::Tanh>());
  return layers;
}

Layers DiscriminatorLayers(const DcganDiscriminatorOptions& o) {
  if (o.channels < 1 || o.channels > 1'000'000) {
    RaiseStatus(InvalidArgument("expected 1 to 1000000 channels, got ", o.channels),
                "zoo::DcganDiscriminator");
  }
  Layers layers;
  const auto add = [&](int64_t in, int64_t out, bool last) {
    layers.push_back(nn::New<nn::Conv2d>({.in = in,
                                          .out = out,
                                          .kernel = 4,
                                          .stride = last ? 1 : 2,
                                          .padding = last ? 0 : 1,
                                          .bias = false,
                                          .weight_init = nn::init::Normal(0, 0.02)}));
  };
  int64_t in = o.in;
  for (int64_t out = o.channels; out <= 8 * o.channels; out *= 2) {
    const bool first = layers.empty();
    add(in, out, false);
    if (!first) layers.push_back(nn::New<nn::BatchNorm2d>({.channels = out}));
    layers.push_back(nn::New<nn::LeakyRelu>({.alpha = 0.2}));
    in = out;
  }
  add(in, 1, true);
  return layers;
}

}  // namespace

DcganGenerator::DcganGenerator(const Options& options)
    : LayerWithOptions(options), main_(Add<nn::Sequential>("main", GeneratorLayers(options))) {}

Tensor DcganGenerator::Forward(const Tensor& z) {
  return main_(Reshape(z, {z.size(0), options().latent, 1, 1}));
}

DcganDiscriminator::DcganDiscriminator(const Options& options)
    : LayerWithOptions(options), main_(Add<nn::Sequential>("main", DiscriminatorLayers(options))) {}

Tensor DcganDiscriminator::Forward(const Tensor& x) { return Reshape(main_(x), {x.size(0)}); }

std::vector<Network> DcganNetworks() {
  const char* const paper =
      "Radford et al., \"Unsupervised representation learning with deep convolutional generative "
      "adversarial networks\", 2015";
  const Normalization colours = {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}};
  return {{.name = "dcgan_generator",
           .paper = paper,
           .inputs = {{"latent", {100}}},
           .parameters = 12'658'432,
           .make =
               [](const Options& options) {
                 ExpectNoClasses(options, "dcgan_generator");
                 return std::make_unique<DcganGenerator>();
               }},
          {.name = "dcgan_discriminator",
           .paper = paper,
           .inputs = {Image(64)},
           .colours = colours,
           .parameters = 11'036'160,
           .any_channels = true,
           .make = [](const Options& options) {
             ExpectNoClasses(options, "dcgan_discriminator");
             return std::make_unique<DcganDiscriminator>(
                 DcganDiscriminatorOptions{.in = ChannelsOr(options, 3)});
           }}};
}

}  // namespace firn::zoo
