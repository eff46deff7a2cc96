// Facts about the program that no operation shows and a capture notes: switches that the run asked,
// and the tensors outside whose flags decide what a backward pass does.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "firn/autograd/graph/recorder.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/owner.h"

namespace firn {

void GraphRecorder::BeforeGetSwitch(const SwitchState& state, const std::string& name, bool turns) {
  if (!switches_.insert(state).second) return;
  graph_.switches.push_back({.state = state, .name = name, .turns = turns});  // then: NoteSwitches
}

void GraphRecorder::BeforeSetSwitch(const SwitchState& state) { switches_.insert(state); }

// A switch that the run asked and set later is expected as the run leaves it; so are the flags of
// leaves. Gradients are left out: they are states too, but belong to the graph alone.
void GraphRecorder::NoteSwitches() {
  for (Switch& s : graph_.switches) s.then = s.now();
  NoteKept();
  std::vector<bool> gradient(graph_.values.size());
  for (GradientEffect& e : graph_.gradients) {
    ForEachValue(e, [&](ValueId id) { gradient[static_cast<size_t>(id)] = true; });
  }
  if (graph_.gradients.empty()) return;
  const auto note = [&](ValueId id, const Tensor& t) {
    const bool state = graph_.buffer_of(id).kind == Buffer::Kind::kState;
    if (state && t.defined() && t.is_leaf() && IsFloating(t.dtype()) &&
        !gradient[static_cast<size_t>(id)]) {
      graph_.leaves.push_back({t, t.requires_grad()});
    }
  };
  for (size_t id = 0; id < graph_.values.size(); ++id) {
    note(static_cast<ValueId>(id), graph_.values[id].bound);
  }
  for (const auto& [id, handle] : other_handles_) note(id, handle);
}

// Modules' own tensors, which are their parameters and buffers as long as nothing takes their
// place.
void GraphRecorder::NoteKept() {
  absl::flat_hash_set<const TensorImpl*> noted;
  const auto note = [&](ValueId id, const Tensor& t) {
    if (graph_.buffer_of(id).kind != Buffer::Kind::kState || !t.defined()) return;
    if (!t.impl()->owned || !noted.insert(t.impl()).second) return;
    // The bound tensor has no history, even if `t` has one.
    graph_.switches.push_back(
        {.state = ReplacedFlag(t), .name = NameOfKept(t), .kept = graph_.value(id).bound});
  };
  for (size_t id = 0; id < graph_.values.size(); ++id) {
    note(static_cast<ValueId>(id), graph_.values[id].bound);
  }
  for (const auto& [id, handle] : other_handles_) note(id, handle);
  for (const Tensor& t : detached_) {
    const auto seen = seen_.find(t.impl()->storage.get());
    if (seen == seen_.end()) continue;  // nothing was computed with it
    for (const ValueId id : seen->second.values) {
      const Tensor& bound = graph_.value(id).bound;
      if (bound.defined() && bound.impl()->data == t.impl()->data) note(id, t);
    }
  }
}

// Its owner may give up the tensor while its detached copy is still used.
void GraphRecorder::BeforeDetach(const Tensor& t) {
  if (t.impl()->owned && known_detached_.insert(t.impl()).second) detached_.push_back(t);
}

}  // namespace firn
