// Sizes that follow from samples are left open: the first batch tells them.
#include "tools/firn/train/models.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "firn/device/edit_distance.h"
#include "firn/device/inner.h"
#include "firn/nn/make_layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/small.h"
#include "firn/nn/zoo/zoo.h"
#include "firn/tensor/error.h"
#include "tools/firn/train/network_file.h"
#include "tools/firn/train/zoo_families.h"
#include "tools/firn/train/zoo_model.h"

namespace firn::cli {
namespace {

using Layers = std::vector<nn::LayerSpec>;

// A layer for each object of the list, its options by their names. Each is made once here, like
// optimizers, so that errors are found, with their places, before data are read.
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

std::unique_ptr<nn::Layer> OfLayers(const Layers& layers) {
  auto net = std::make_unique<nn::Sequential>(layers);
  net->SetName("net");
  return net;
}

std::unique_ptr<nn::Layer> OfMlp(const std::vector<int64_t>& hidden, int64_t outputs) {
  return std::make_unique<zoo::Mlp>(zoo::MlpOptions{.hidden = hidden, .classes = outputs});
}

ModelMaker ParseMlp(const Config& config) {
  const std::vector<int64_t> hidden = config.Integers("hidden", {64});
  for (const int64_t size : hidden) {
    if (size < 1 || size > 1'000'000) config.Refuse("hidden", "expected sizes from 1 to 1000000");
  }
  if (hidden.size() > 1000) config.Refuse("hidden", "expected at most 1000 layers");
  return [hidden](const Shape&, const Shape& result) { return OfMlp(hidden, result[0]); };
}

// "resnet" is small_resnet's name from before there was a zoo.
std::string NameInZoo(const std::string& name) { return name == "resnet" ? "small_resnet" : name; }

// The reason why a network of the zoo is not trained; "" for others.
std::string WhyNot(const std::string& name) {
  const std::vector<std::string> all = zoo::Names();
  if (std::find(all.begin(), all.end(), name) == all.end()) return "";
  const ZooFamily* const family = FindZooFamily(zoo::Find(name).family);
  return family == nullptr ? "" : family->why_not;
}

[[noreturn]] void RefuseName(const Config& config, const std::string& name) {
  if (const std::string why = WhyNot(name); !why.empty()) {
    config.Refuse("name", absl::StrCat("firn train does not train ", name, ": ", why));
  }
  std::vector<std::string> names = TrainedOfZoo();
  names.insert(names.end(), {"mlp", "layers", "file"});
  config.Refuse("name", absl::StrCat("expected mlp, layers, file or a network of `firn zoo list` "
                                     "that gives scores of classes, got \"",
                                     absl::CEscape(name), "\"", internal::InsteadOf(name, names)));
}

}  // namespace

const zoo::Network* NetworkOfZoo(const Config& config) {
  return config.Has("graph") ? nullptr : FindTrained(NameInZoo(config.Text("name", "")));
}

Model ParseModel(const Config& config) {
  const std::string name = config.RequiredText("name");
  if (name == "mlp") return {ParseMlp(config)};
  if (name == "file") return {MakerOf(ParseNetworkFile(config))};
  if (name == "layers") {
    return {[layers = OfList(config)](const Shape&, const Shape&) { return OfLayers(layers); }};
  }
  const zoo::Network* const network = FindTrained(NameInZoo(name));
  if (network == nullptr) RefuseName(config, name);
  return ParseZoo(config, *network);
}

}  // namespace firn::cli
