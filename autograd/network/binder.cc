// Binding a network: each value is known, and then so are its elements, or computed, and then it
// has a slot of the program. A node runs at once either way: on known values for good, on others to
// learn the shapes of its results, which the steps of the program give again.
//
// Elements that were computed are given up behind the last node of the network's own body that
// needs them, so that binding takes about the memory of a run.

#include "firn/autograd/network/binder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn::autograd {
namespace {

// Every value that a node or a node of its bodies reads.
void CollectUses(const NetworkNode& root, std::vector<int>* uses) {
  std::vector<const NetworkNode*> open = {&root};
  while (!open.empty()) {
    const NetworkNode& node = *open.back();
    open.pop_back();
    uses->insert(uses->end(), node.inputs.begin(), node.inputs.end());
    for (const auto& body : node.bodies) {
      uses->insert(uses->end(), body->outputs.begin(), body->outputs.end());
      for (const NetworkNode& inside : body->nodes) open.push_back(&inside);
    }
  }
}

void GiveUpElements(BoundValue* root) {
  if (!root->known) root->tensor = Tensor();
  root->items.clear();
}

// Which node it is, before what its lowering or an operation says.
[[noreturn]] void RaiseIn(const NetworkDefinition& definition, const NetworkNode& node,
                          const Error& error) {
  const std::string text = error.what(), own = "network: ";
  RaiseStatus(absl::Status(error.code(),
                           absl::StrCat(definition.source, ": ", node.what, ": ",
                                        text.starts_with(own) ? text.substr(own.size()) : text)),
              "network");
}

}  // namespace

Binder::Binder(std::shared_ptr<const NetworkDefinition> definition, Device device, bool may_look)
    : definition_(std::move(definition)),
      device_(device),
      may_look_(may_look),
      looked_at_(definition_->inputs.size()),
      values_(static_cast<size_t>(definition_->num_values)) {
  program_.definition = definition_;
  FindLastUses();
}

void Binder::FindLastUses() {
  const NetworkBody& body = definition_->body;
  last_uses_.resize(body.nodes.size());
  std::vector<bool> used(static_cast<size_t>(definition_->num_values));
  for (int id : body.outputs) used[static_cast<size_t>(id)] = true;
  std::vector<int> uses;
  for (size_t i = body.nodes.size(); i-- > 0;) {
    uses.assign(body.nodes[i].outputs.begin(), body.nodes[i].outputs.end());
    CollectUses(body.nodes[i], &uses);
    for (int id : uses) {
      if (id == kNoValue || used[static_cast<size_t>(id)]) continue;
      used[static_cast<size_t>(id)] = true;
      last_uses_[i].push_back(id);
    }
  }
}

Program Binder::Bind(absl::Span<const Tensor> inputs, absl::Span<const Tensor> parameters) {
  const NetworkDefinition& d = *definition_;
  const auto add = [&](int id, const Tensor& tensor, std::vector<int> from) {
    BoundValue value = NodeCall::Constant(tensor);
    value.known = false;
    value.from = std::move(from);
    value.slot = program_.num_slots++;
    Set(id, std::move(value));
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    add(d.body.inputs[i], inputs[i], {static_cast<int>(i)});
  }
  for (size_t i = 0; i < parameters.size(); ++i) add(d.parameters[i].second, parameters[i], {});
  for (const auto& [id, tensor] : d.constants) Set(id, NodeCall::Constant(tensor));
  stack_.push_back({&d.body, nullptr});
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    if (stack_.size() == 1 && frame.next > 0) {
      for (int id : last_uses_[frame.next - 1]) GiveUpElements(&values_[static_cast<size_t>(id)]);
    }
    if (frame.next < frame.body->nodes.size()) {
      Start(frame.body->nodes[frame.next++]);
      continue;
    }
    std::unique_ptr<NodeCall> call = std::move(frame.call);
    stack_.pop_back();
    if (call != nullptr) GoOn(std::move(call));
  }
  for (int id : d.body.outputs) {
    const BoundValue& value = Get(id);
    if (!value.is_tensor()) {
      RaiseStatus(Unimplemented(d.source, ": an output of the network is a list of tensors"),
                  "network");
    }
    program_.outputs.push_back(SlotOf(value));
  }
  Trim();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (looked_at_[i]) program_.elements.emplace_back(i, Clone(ToDevice(inputs[i], Device::Cpu())));
  }
  return std::move(program_);
}

void Binder::LookAt(const BoundValue& value, std::string_view what) {
  if (!value.varies()) return;
  if (value.drawn) {
    RaiseStatus(Unimplemented(what, " is drawn at random; expected what does not change"),
                "network");
  }
  if (!may_look_) {
    RaiseStatus(FailedPrecondition(
                    what, " depends on elements of input \"",
                    definition_->inputs[static_cast<size_t>(value.from[0])].name,
                    "\", which a graph that is captured would hold as they are now; make it a"
                    " constant of the network, or call the network without a graph"),
                "network");
  }
  for (int input : value.from) looked_at_[static_cast<size_t>(input)] = true;
}

// Bodies count too: they may have no nodes.
void Binder::Count() {
  if (++nodes_ <= definition_->max_nodes) return;
  RaiseStatus(
      ResourceExhausted("more than ", definition_->max_nodes, " nodes run in one call (max_nodes)"),
      "network");
}

void Binder::Start(const NetworkNode& node) {
  try {
    Count();
    auto call = std::make_unique<NodeCall>(this, &node);
    const Step step = node.lower(*call);
    if (step != nullptr) {
      std::vector<BoundValue> in;
      for (size_t i = 0; i < call->num_inputs(); ++i) in.push_back(call->Input(i));
      call->Return(Run(node, step, in));
    } else if (call->control_ != nullptr) {
      GoOn(std::move(call));
    } else if (!call->returned_) {
      RaiseStatus(Internal("its lowering gave no outputs"), "network");
    }
  } catch (const Error& error) {
    RaiseIn(*definition_, node, error);
  }
}

void Binder::GoOn(std::unique_ptr<NodeCall> call) {
  const NetworkNode& node = call->node();
  try {
    Count();
    const NetworkBody* body = call->control_->Next(*call);
    if (body != nullptr) {
      stack_.push_back({body, std::move(call)});
    } else if (!call->returned_) {
      RaiseStatus(Internal("its lowering gave no outputs"), "network");
    }
  } catch (const Error& error) {
    RaiseIn(*definition_, node, error);
  }
}

std::vector<BoundValue> Binder::Run(const NetworkNode& node, const Step& step,
                                    absl::Span<const BoundValue> in) {
  bool known = !node.draws, drawn = node.draws;
  std::vector<int> from;
  for (const BoundValue& value : in) {
    if (value.is_list()) RefuseNode("a tensor is expected, got a list");
    known &= value.known || !value.is_tensor();
    drawn |= value.drawn;
    const auto middle = static_cast<ptrdiff_t>(from.size());
    from.insert(from.end(), value.from.begin(), value.from.end());
    std::inplace_merge(from.begin(), from.begin() + middle, from.end());
    from.erase(std::unique(from.begin(), from.end()), from.end());
  }
  Program::Call made{step, &node.name, &node.what, {}, {}, {}};
  TensorList tensors;
  for (const BoundValue& value : in) {
    const bool move = value.known && !known;
    tensors.push_back(move ? ToDevice(value.tensor, device_) : value.tensor);
    if (!known) made.in.push_back(value.is_tensor() ? SlotOf(value) : kNoValue);
  }
  const PathScope scope(node.name);
  TensorList results = step(tensors);
  std::vector<BoundValue> out;
  for (Tensor& result : results) {
    BoundValue value;
    if (result.defined()) {
      value = NodeCall::Constant(std::move(result));
      value.known = known;
      value.drawn = drawn;
      value.from = from;
      if (!known) value.slot = program_.num_slots++;
    }
    made.out.push_back(value.slot);
    out.push_back(std::move(value));
  }
  if (!known) program_.calls.push_back(std::move(made));
  return out;
}

int Binder::SlotOf(const BoundValue& value) {
  if (!value.known) return value.slot;
  // The tensor is kept, so that no other gets its address.
  const auto [it, inserted] = constants_.try_emplace(value.tensor.impl());
  if (inserted) {
    it->second = {value.tensor, program_.num_slots++};
    program_.constants.emplace_back(it->second.second, ToDevice(value.tensor, device_));
  }
  return it->second.second;
}

void Binder::Trim() {
  std::vector<bool> needed(static_cast<size_t>(program_.num_slots));
  const auto need = [&](int slot) {
    if (slot == kNoValue || needed[static_cast<size_t>(slot)]) return true;
    needed[static_cast<size_t>(slot)] = true;
    return false;
  };
  for (int slot : program_.outputs) need(slot);
  std::vector<Program::Call> kept;
  for (size_t i = program_.calls.size(); i-- > 0;) {
    Program::Call& call = program_.calls[i];
    bool wanted = false;
    for (int slot : call.out) wanted |= slot != kNoValue && needed[static_cast<size_t>(slot)];
    if (!wanted) continue;
    for (int slot : call.out) {
      if (!need(slot)) call.release.push_back(slot);
    }
    for (int slot : call.in) {
      if (!need(slot)) call.release.push_back(slot);
    }
    kept.push_back(std::move(call));
  }
  program_.calls.assign(std::make_move_iterator(kept.rbegin()),
                        std::make_move_iterator(kept.rend()));
  std::erase_if(program_.constants,
                [&](const auto& c) { return !needed[static_cast<size_t>(c.first)]; });
}

Program Bind(std::shared_ptr<const NetworkDefinition> definition, absl::Span<const Tensor> inputs,
             absl::Span<const Tensor> parameters) {
  const bool may_look = ThisThread().capture == nullptr;
  // A capture records the program's operations, not those that make the program.
  const NoCaptureScope no_capture;
  const NoGradScope no_grad;
  const Device device = !inputs.empty()       ? inputs[0].device()
                        : !parameters.empty() ? parameters[0].device()
                                              : Device::Cpu();
  Binder binder(std::move(definition), device, may_look);
  return binder.Bind(inputs, parameters);
}

}  // namespace firn::autograd
