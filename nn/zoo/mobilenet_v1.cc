// The channels of a layer and its stride follow from its number alone.
#include "firn/nn/zoo/mobilenet_v1.h"

#include <algorithm>
#include <array>
#include <map>

#include "firn/nn/zoo/conv_norm.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::zoo {
namespace {

constexpr std::array<int64_t, 14> kChannels = {32,  64,  128, 128, 256, 256,  512,
                                               512, 512, 512, 512, 512, 1024, 1024};

int64_t Stride(size_t i) { return i == 0 || (i > 1 && kChannels[i] > kChannels[i - 1]) ? 2 : 1; }

// The channels that layer i makes.
int64_t Channels(const MobilenetV1Options& o, size_t i) {
  return std::max<int64_t>(8, static_cast<int64_t>(static_cast<double>(kChannels[i]) * o.width));
}

std::vector<nn::LayerSpec> Layers(const MobilenetV1Options& o) {
  ExpectPositive("width", o.width, "zoo::MobilenetV1");
  int64_t in = Channels(o, 0);
  std::vector<nn::LayerSpec> layers = {
      nn::New<ConvNorm>({.in = 3, .out = in, .kernel = 3, .stride = 2})};
  for (size_t i = 1; i < kChannels.size(); ++i) {
    const int64_t out = Channels(o, i);
    const std::vector<nn::LayerSpec> pair = {
        nn::New<ConvNorm>({.in = in, .out = in, .kernel = 3, .stride = Stride(i), .groups = in}),
        nn::New<ConvNorm>({.in = in, .out = out, .kernel = 1})};
    layers.push_back(nn::New<nn::Sequential>(pair));
    in = out;
  }
  return layers;
}

}  // namespace

MobilenetV1::MobilenetV1(const Options& options)
    : LayerWithOptions(options),
      features_(Add<nn::Sequential>("features", Layers(options))),
      dropout_(Add<nn::Dropout>("dropout", {.p = options.dropout})),
      fc_(Add<nn::Linear>(
          "fc", {.in = Channels(options, kChannels.size() - 1), .out = options.classes})) {}

Tensor MobilenetV1::Forward(const Tensor& x) { return fc_(dropout_(Mean(features_(x), {2, 3}))); }

namespace {

struct Published {
  MobilenetV1Options options;
  int64_t parameters;
  double giga_multiply_adds;
};

const std::map<std::string, Published>& All() {
  static const auto* const all = new std::map<std::string, Published>{
      {"mobilenet_v1", {{}, 4'231'976, 0.569}},
      {"mobilenet_v1_0_75", {{.width = 0.75}, 2'585'560, 0.325}},
      {"mobilenet_v1_0_5", {{.width = 0.5}, 1'331'592, 0.149}},
      {"mobilenet_v1_0_25", {{.width = 0.25}, 470'072, 0.041}},
  };
  return *all;
}

}  // namespace

MobilenetV1Options MobilenetV1Of(const std::string& name, const Options& options) {
  MobilenetV1Options of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> MobilenetV1Networks() {
  std::vector<Network> networks;
  for (const auto& [name, published] : All()) {
    networks.push_back({.name = name,
                        .paper = "Howard et al., \"MobileNets: efficient convolutional neural "
                                 "networks for mobile vision applications\", 2017",
                        .inputs = {Image(224)},
                        .classes = 1000,
                        .class_set = "imagenet",
                        .colours = {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}},
                        .parameters = published.parameters,
                        .giga_multiply_adds = published.giga_multiply_adds,
                        .make = MakerOf<MobilenetV1>(MobilenetV1Of, name)});
  }
  return networks;
}

}  // namespace firn::zoo
