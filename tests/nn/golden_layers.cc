// Turns options of the cases, words separated by spaces, into those of MakeLayer, with commas.

#include "tests/nn/golden_layers.h"

#include <stdexcept>

#include "absl/strings/str_join.h"
#include "firn/nn/layer.h"
#include "firn/nn/type_names.h"

namespace firn::nn {

std::string LayerOfFile(const std::string& file) {
  for (const std::string& name : LayerNames()) {
    if (SnakeCase(name) == file) return name;
  }
  return "";
}

OptionValues OptionsOfCase(const std::string& layer, const testing::GoldenCase& c, bool deferred) {
  OptionValues values;
  for (const auto& [name, words] : c.attrs) {
    if (name == "training") continue;  // the layer's mode
    bool told_by_input = false;
    for (const OptionText& o : LayerOptions(layer)) told_by_input |= o.name == name && o.deferred;
    // An input tells only the last of several sizes.
    if (deferred && told_by_input && words.size() == 1) continue;
    values.emplace_back(name, absl::StrJoin(words, ", "));
  }
  return values;
}

std::unique_ptr<Module> MakeFrom(const std::string& layer, const testing::GoldenCase& c,
                                 bool deferred) {
  StateDict tensors;
  for (const OptionText& o : LayerOptions(layer)) {
    const Tensor* given = o.tensor ? c.inputs.Find(o.name) : nullptr;
    if (given != nullptr) tensors.Insert(o.name, *given);
  }
  return MakeLayer(layer, OptionsOfCase(layer, c, deferred), tensors);
}

Tensor CallLayer(Module& layer, const std::vector<Tensor>& in) {
  using Two = LayerOf<Tensor, Tensor>;
  using Three = LayerOf<Tensor, Tensor, Tensor>;
  using Four = LayerOf<Tensor, Tensor, Tensor, Tensor>;
  if (auto* one = dynamic_cast<Layer*>(&layer)) return (*one)(in.at(0));
  if (auto* two = dynamic_cast<Two*>(&layer)) return (*two)(in.at(0), in.at(1));
  if (auto* three = dynamic_cast<Three*>(&layer)) {
    if (in.size() == 1) return (*three)(in[0], in[0], in[0]);  // a sequence that attends to itself
    return (*three)(in.at(0), in.at(1), in.size() == 2 ? Tensor() : in.at(2));
  }
  if (auto* four = dynamic_cast<Four*>(&layer)) {
    return (*four)(in.at(0), in.at(1), in.at(2), in.at(3));
  }
  throw std::invalid_argument(layer.type_name() + " is called in another way");
}

}  // namespace firn::nn
