// Sizes that follow from samples are left open: the first batch tells them.
#include "tools/firn/train/models.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/activation.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/linear.h"
#include "firn/nn/make_layer.h"
#include "firn/nn/pooling.h"
#include "firn/nn/res_unit.h"
#include "firn/nn/sequential.h"
#include "firn/nn/shape_layers.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "tools/firn/train/network_file.h"

namespace firn::cli {
namespace {

using Layers = std::vector<nn::LayerSpec>;

void AddConvolution(Layers* layers, const nn::Conv2dOptions& options) {
  layers->push_back(nn::New<nn::Conv2d>(options));
  layers->push_back(
      nn::New<nn::BatchNorm2d>({.channels = options.out, .activation = FusedActivation::kRelu}));
}

// The mean over each channel, and scores of it.
void AddHead(Layers* layers, int64_t outputs) {
  layers->push_back([](const Tensor& x) { return Mean(x, {2, 3}); });
  layers->push_back(nn::New<nn::Linear>({.out = outputs}));
}

Layers Mlp(const std::vector<int64_t>& hidden, int64_t outputs) {
  Layers layers = {nn::New<nn::Flatten>()};
  for (const int64_t size : hidden) {
    layers.push_back(nn::New<nn::Linear>({.out = size}));
    layers.push_back(nn::New<nn::Relu>());
  }
  layers.push_back(nn::New<nn::Linear>({.out = outputs}));
  return layers;
}

Layers Lenet(int64_t outputs) {
  Layers layers;
  for (const int64_t channels : {16, 32}) {
    AddConvolution(&layers, {.out = channels, .kernel = 5, .padding = 2});
    layers.push_back(nn::New<nn::MaxPool2d>({.kernel = 2}));
  }
  layers.push_back(nn::New<nn::Flatten>());
  layers.push_back(nn::New<nn::Linear>({.out = 128}));
  layers.push_back(nn::New<nn::Relu>());
  layers.push_back(nn::New<nn::Linear>({.out = outputs}));
  return layers;
}

Layers Resnet(int64_t outputs) {
  Layers layers;
  AddConvolution(&layers, {.out = 16, .kernel = 3, .padding = 1});
  layers.push_back(nn::New<nn::ResUnit>({.in = 16, .out = 16}));
  layers.push_back(nn::New<nn::ResUnit>({.in = 16, .out = 32, .stride = 2}));
  layers.push_back(nn::New<nn::ResUnit>({.in = 32, .out = 64, .stride = 2}));
  AddHead(&layers, outputs);
  return layers;
}

Layers Resnet18(int64_t outputs) {
  Layers layers;
  AddConvolution(&layers, {.out = 64, .kernel = 3, .padding = 1, .bias = false});
  int64_t in = 64;
  for (const int64_t width : {64, 128, 256, 512}) {
    layers.push_back(nn::New<nn::ResUnit>({.in = in, .out = width, .stride = width == in ? 1 : 2}));
    layers.push_back(nn::New<nn::ResUnit>({.in = width, .out = width}));
    in = width;
  }
  AddHead(&layers, outputs);
  return layers;
}

// The smallest pictures that a network takes.
struct Images {
  const char* name;
  Layers (*layers)(int64_t outputs);
  int64_t least;
};
constexpr Images kImages[] = {
    {"lenet", Lenet, 4}, {"resnet", Resnet, 1}, {"resnet18", Resnet18, 1}};

// A layer for each object of the list, its options by their names. Each is made once here, as
// optimizers are, so that what makes no sense is told with its place before data are read.
Layers OfList(const Config& config) {
  const std::vector<Config> items = config.Objects("layers");
  if (items.empty() || items.size() > 1000) config.Refuse("layers", "expected 1 to 1000 layers");
  Layers layers;
  for (const Config& item : items) {
    const std::string name = item.RequiredChoice("layer", nn::LayerNames());
    nn::OptionValues values;
    for (const nn::OptionText& option : nn::LayerOptions(name)) {
      const char* const key = option.name.c_str();
      if (!item.Has(key)) continue;
      if (option.tensor) item.Refuse(option.name, "expected nothing, for it is a tensor");
      values.emplace_back(option.name, item.AnyText(key));
    }
    item.Finish();
    const nn::ModuleFactory make = [item, name, values](const nn::Module*) {
      try {
        return nn::MakeLayer(name, values);
      } catch (const Error& e) {
        item.Refuse("", e.what());  // with the place in the file
      }
    };
    if (dynamic_cast<const nn::Layer*>(make(nullptr).get()) == nullptr) {
      item.Refuse("layer", absl::StrCat("expected one that takes one tensor, got ", name));
    }
    layers.emplace_back(make);
  }
  return layers;
}

std::unique_ptr<nn::Layer> Named(const std::string& name, const Layers& layers) {
  auto net = std::make_unique<nn::Sequential>(layers);
  net->SetName(name);
  return net;
}

}  // namespace

ModelMaker ParseModel(const Config& config) {
  std::vector<std::string> names = {"mlp", "layers", "file"};
  for (const Images& model : kImages) names.emplace_back(model.name);
  const std::string name = config.RequiredChoice("name", names);
  if (name == "mlp") {
    const std::vector<int64_t> hidden = config.Integers("hidden", {64});
    for (const int64_t size : hidden) {
      if (size < 1 || size > 1'000'000) config.Refuse("hidden", "expected sizes from 1 to 1000000");
    }
    if (hidden.size() > 1000) config.Refuse("hidden", "expected at most 1000 layers");
    return
        [name, hidden](const Shape&, int64_t outputs) { return Named(name, Mlp(hidden, outputs)); };
  }
  if (name == "file") return ParseNetworkFile(config);
  if (name == "layers") {
    return [layers = OfList(config)](const Shape&, int64_t) { return Named("net", layers); };
  }
  const Images model = *std::find_if(std::begin(kImages), std::end(kImages),
                                     [&](const Images& m) { return name == m.name; });
  return [model](const Shape& sample, int64_t outputs) {
    if (sample.rank() != 3 || std::min(sample[1], sample[2]) < model.least) {
      RaiseStatus(
          InvalidArgument(model.name, " takes images [channels, height, width] of at least ",
                          model.least, " pixels each way, a sample is ", sample.ToString()),
          "model");
    }
    return Named(model.name, model.layers(outputs));
  };
}

}  // namespace firn::cli
