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
#include "firn/device/status_macros.h"
#include "firn/io/parameters.h"
#include "firn/nn/eval_scope.h"
#include "firn/nn/make_layer.h"
#include "firn/nn/sequential.h"
#include "firn/nn/zoo/small.h"
#include "firn/nn/zoo/zoo.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "tools/firn/train/network_file.h"

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
  return [hidden](const Shape&, int64_t outputs) { return OfMlp(hidden, outputs); };
}

// Whether a network takes one image and gives a score for each class.
bool Classifies(const zoo::Network& network) {
  return network.classes > 0 && !network.of_pixels_or_boxes && network.inputs.size() == 1 &&
         network.inputs[0].count == 0 && network.inputs[0].shape.rank() == 3;
}

std::vector<std::string> Classifiers() {
  std::vector<std::string> names;
  for (const std::string& name : zoo::Names()) {
    if (name != "mlp" && Classifies(zoo::Find(name))) names.push_back(name);
  }
  return names;
}

// "resnet" is small_resnet's name from before there was a zoo.
std::string NameInZoo(const std::string& name) { return name == "resnet" ? "small_resnet" : name; }

// Pictures with a side below this are small; some networks have a first layer of their own for
// them.
constexpr int64_t kSmall = 64;

// Throws, before anything is trained, if the network takes no such images.
void TryImages(nn::Layer& net, const std::string& name, const Shape& sample) {
  const NoGradScope no_grad;
  const nn::EvalScope eval(net);
  try {
    net(Zeros({1, sample[0], sample[1], sample[2]}));
  } catch (const Error& e) {
    RaiseStatus(InvalidArgument(name, " does not take images ", sample.ToString(), ": ", e.what()),
                "model");
  }
}

// A file's tensors may have other shapes if they are for other classes: only their first dimension
// differs, and is `outputs` here. Throws for other differences.
void CheckHeadAlone(const nn::LoadReport& report, const std::string& path, int64_t outputs) {
  const auto behind_first = [](const std::string& shape) {
    return shape.substr(std::min(shape.find(','), shape.size() - 1));
  };
  for (const nn::LoadReport::Misshaped& m : report.misshaped) {
    const std::string rest = behind_first(m.net);
    if (m.net == absl::StrCat("[", outputs, rest) && rest == behind_first(m.file)) continue;
    RaiseStatus(InvalidArgument(path, ": ", m.name, " is ", m.file, ", the network's is ", m.net,
                                "; only a last layer of other classes may differ (a first layer "
                                "for small images is \"small_images\")"),
                "model");
  }
}

ModelMaker ParseZoo(const Config& config, const std::string& name) {
  const zoo::Network& network = zoo::Find(name);
  const bool given = config.Has("small_images");
  const bool small = config.Flag("small_images", false);
  if (small && !network.has_small_stem) {
    config.Refuse("small_images", name + " has no first layer for small images");
  }
  const std::string weights = config.Text("weights", "");
  const std::string path = weights.empty() ? "" : config.Path(weights);
  return [&network, name, given, small, path](const Shape& sample, int64_t outputs) {
    if (sample.rank() != 3) {
      RaiseStatus(InvalidArgument(name, " takes images [channels, height, width], a sample is ",
                                  sample.ToString()),
                  "model");
    }
    const bool is_small = std::min(sample[1], sample[2]) < kSmall;
    std::unique_ptr<nn::Layer> net =
        zoo::Make(name, {.classes = outputs,
                         .channels = sample[0],
                         .small_images = given ? small : network.has_small_stem && is_small});
    TryImages(*net, name, sample);
    // A head for other classes starts anew, everything else has to be there.
    if (!path.empty()) {
      const nn::LoadReport report =
          net->LoadStateDict(io::Load(path), {.skip_mismatched = true, .source = path});
      CheckHeadAlone(report, path, outputs);
    }
    return net;
  };
}

}  // namespace

const zoo::Network* NetworkOfZoo(const Config& config) {
  if (config.Has("graph")) return nullptr;
  const std::string name = NameInZoo(config.Text("name", ""));
  const std::vector<std::string> names = Classifiers();
  return std::find(names.begin(), names.end(), name) == names.end() ? nullptr : &zoo::Find(name);
}

ModelMaker ParseModel(const Config& config) {
  std::string name = config.RequiredText("name");
  if (name == "mlp") return ParseMlp(config);
  if (name == "file") return MakerOf(ParseNetworkFile(config));
  if (name == "layers") {
    return [layers = OfList(config)](const Shape&, int64_t) { return OfLayers(layers); };
  }
  name = NameInZoo(name);
  std::vector<std::string> names = Classifiers();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.insert(names.end(), {"mlp", "layers", "file"});
    config.Refuse("name",
                  absl::StrCat("expected mlp, layers, file or a network of `firn zoo list` "
                               "that gives scores for an image, got \"",
                               absl::CEscape(name), "\"", internal::InsteadOf(name, names)));
  }
  return ParseZoo(config, name);
}

}  // namespace firn::cli
