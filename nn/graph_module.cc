#include "firn/nn/graph_module.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "firn/autograd/network/definition.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn::nn {

// A module between the root and a tensor.
class GraphModule::Part final : public Module {
 public:
  Part& Child(const std::string& name) {
    Module* const found = FindChild(name);
    return found != nullptr ? static_cast<Part&>(*found) : Add<Part>(name);
  }
  const Tensor& Hold(const std::string& name, Tensor tensor, bool buffer) {
    return buffer ? AddBuffer(name, std::move(tensor)) : AddParameter(name, std::move(tensor));
  }
};

namespace {

// The place of a tensor: the modules, and its name in the last one.
std::vector<std::vector<std::string>> PlacesOf(const StateDict& state) {
  std::vector<std::vector<std::string>> places;
  absl::flat_hash_set<std::string> modules;
  for (const auto& [name, tensor] : state) {
    places.push_back(absl::StrSplit(name, '.'));
    for (size_t at = name.find('.'); at != std::string::npos; at = name.find('.', at + 1)) {
      modules.insert(name.substr(0, at));
    }
  }
  size_t i = 0;
  for (const auto& [name, tensor] : state) {
    std::vector<std::string>& place = places[i++];
    const bool hole = std::find(place.begin(), place.end(), "") != place.end();
    const bool taken = modules.contains(name);
    if (!hole && !taken) continue;
    place = {absl::StrReplaceAll(name, {{".", "/"}}) + (taken ? "/" : "")};
  }
  return places;
}

}  // namespace

GraphModule::GraphModule(const Network& network) : network_(network.Bare()) {
  const std::vector<std::string>& names = network.buffers();
  const absl::flat_hash_set<std::string> buffers(names.begin(), names.end());
  const std::vector<std::vector<std::string>> places = PlacesOf(network.parameters());
  const NoGradScope no_grad;
  size_t i = 0;
  for (const auto& [name, tensor] : network.parameters()) {
    const std::vector<std::string>& place = places[i++];
    const bool buffer = buffers.contains(name);
    Tensor own = Clone(tensor);
    if (place.size() == 1) {
      tensors_.push_back(buffer ? &AddBuffer(place[0], std::move(own))
                                : &AddParameter(place[0], std::move(own)));
      continue;
    }
    Module* const first = FindChild(place[0]);
    Part* part = first != nullptr ? static_cast<Part*>(first) : &Add<Part>(place[0]);
    for (size_t p = 1; p + 1 < place.size(); ++p) part = &part->Child(place[p]);
    tensors_.push_back(&part->Hold(place.back(), std::move(own), buffer));
  }
}

TensorList GraphModule::Run(absl::Span<const Tensor> inputs) {
  std::vector<Tensor> parameters;
  parameters.reserve(tensors_.size());
  for (const Tensor* t : tensors_) parameters.push_back(*t);
  return network_.Call(inputs, parameters);
}

TensorList GraphModule::Call(absl::Span<const Tensor> inputs) {
  const CallScope scope(*this);
  return Run(inputs);
}

Tensor GraphModule::Forward(const Tensor& x) {
  TensorList results = Run({&x, 1});
  if (results.size() != 1) {
    RaiseStatus(FailedPrecondition("the network has ", results.size(), " outputs; use Call"),
                "graph module");
  }
  return std::move(results[0]);
}

std::string GraphModule::Describe() const {
  const auto names = [](const std::vector<autograd::NetworkPort>& ports) {
    return absl::StrJoin(ports, ", ", [](std::string* to, const autograd::NetworkPort& port) {
      to->append(port.name);
    });
  };
  return absl::StrCat(names(network_.inputs()), " -> ", names(network_.outputs()));
}

}  // namespace firn::nn
