// families.inc, which is written while building, names every family that a header of this folder
// declares.
#include "firn/nn/zoo/zoo.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/nn/clone.h"
#include "firn/tensor/error.h"

namespace firn::zoo {

#define FIRN_ZOO_FAMILY(family) std::vector<Network> family##Networks();
#include "firn/nn/zoo/families.inc"
#undef FIRN_ZOO_FAMILY

namespace {

const std::map<std::string, Network>& All() {
  static const auto* const all = [] {
    auto* const networks = new std::map<std::string, Network>();
    const auto add = [&](const char* name, std::vector<Network> family) {
      for (Network& n : family) {
        n.family = name;
        if (n.origin.empty()) n.origin = "Firn";
        networks->emplace(n.name, std::move(n));
      }
    };
#define FIRN_ZOO_FAMILY(family) add(#family, family##Networks());
#include "firn/nn/zoo/families.inc"
#undef FIRN_ZOO_FAMILY
    return networks;
  }();
  return *all;
}

}  // namespace

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, network] : All()) names.push_back(name);
  return names;
}

const Network& Find(const std::string& name) { return FindPublished(All(), name); }

std::unique_ptr<nn::Module> MakeModule(const std::string& name, const Options& options) {
  const Network& network = Find(name);
  CheckOptions(network, options);
  std::unique_ptr<nn::Module> made = network.make(options);
  made->SetName(name);
  nn::ModuleCloner::SetFactory(
      *made, [&network, options](const nn::Module*) { return network.make(options); });
  return made;
}

std::unique_ptr<nn::Layer> Make(const std::string& name, const Options& options) {
  std::unique_ptr<nn::Module> made = MakeModule(name, options);
  auto* const layer = dynamic_cast<nn::Layer*>(made.get());
  if (layer == nullptr) {
    RaiseStatus(InvalidArgument(name, " takes ", Find(name).inputs.size(),
                                " tensors: make it with zoo::MakeModule, or its own class"),
                "zoo::Make");
  }
  static_cast<void>(made.release());
  return std::unique_ptr<nn::Layer>(layer);
}

Tensor Call(nn::Module& network, absl::Span<const Tensor> inputs) {
  if (auto* const one = dynamic_cast<nn::Layer*>(&network); one != nullptr && inputs.size() == 1) {
    return (*one)(inputs[0]);
  }
  using Two = nn::LayerOf<Tensor, Tensor>;
  if (auto* const two = dynamic_cast<Two*>(&network); two != nullptr && inputs.size() == 2) {
    return (*two)(inputs[0], inputs[1]);
  }
  RaiseStatus(InvalidArgument("expected a network of the zoo that takes ", inputs.size(),
                              " tensors, got a ", network.type_name()),
              "zoo::Call");
}

}  // namespace firn::zoo
