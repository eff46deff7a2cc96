// Readers and writers, found in one walk over the instructions.

#include "firn/autograd/graph/analysis.h"

#include <algorithm>

#include "firn/tensor/op.h"

namespace firn {

std::vector<bool> ChangedInPlace(const Graph& graph) {
  std::vector<bool> changed(graph.buffers.size(), false);
  for (const Instr& instr : graph.instrs) {
    for (size_t i = 0; i < instr.in.size(); ++i) {
      if (instr.in[i] != kNoValue && instr.op->writes(i)) {
        changed[static_cast<size_t>(graph.value(instr.in[i]).buffer)] = true;
      }
    }
  }
  return changed;
}

std::vector<Lifespan> LifespansOf(const Graph& graph) {
  std::vector<Lifespan> spans(graph.buffers.size());
  const auto name = [&](ValueId id, size_t at) {
    if (id == kNoValue) return;
    Lifespan& span = spans[static_cast<size_t>(graph.value(id).buffer)];
    span.first = std::min(span.first, at);
    span.last = at;
  };
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    for (ValueId id : graph.instrs[at].in) name(id, at);
    for (ValueId id : graph.instrs[at].out) name(id, at);
  }
  for (ValueId id : graph.outputs) name(id, graph.instrs.size());
  return spans;
}

bool IsAlias(const Graph& graph, const Instr& instr) {
  return instr.op->is_view && graph.value(instr.in[0]).buffer == graph.value(instr.out[0]).buffer;
}

bool Computes(const Graph& graph, const Instr& instr) {
  if (instr.op->is_view) return false;
  return instr.op->any_inout || instr.out.empty() ||
         std::any_of(instr.out.begin(), instr.out.end(),
                     [&](ValueId id) { return graph.value(id).spec.num_elements() != 0; });
}

Uses::Uses(const Graph& graph) : values_(graph.values.size()), buffers_(graph.buffers.size()) {
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    AddReads(graph, at);
    AddWrites(graph, at);
  }
  for (ValueId id : graph.outputs) AddLeaving(graph, id);
  for (const GradientEffect& e : graph.gradients) {
    if (e.value != kNoValue) AddLeaving(graph, e.value);
  }
}

void Uses::AddReads(const Graph& graph, size_t at) {
  const Instr& instr = graph.instrs[at];
  const bool alias = IsAlias(graph, instr);
  for (ValueId id : instr.in) {
    if (id == kNoValue) continue;
    values_[static_cast<size_t>(id)].readers.push_back(at);
    if (!alias) buffers_[static_cast<size_t>(graph.value(id).buffer)].last_reader = at;
  }
}

void Uses::AddWrites(const Graph& graph, size_t at) {
  const Instr& instr = graph.instrs[at];
  const auto add = [&](ValueId id) -> OfBuffer& {
    OfBuffer& buffer = buffers_[static_cast<size_t>(graph.value(id).buffer)];
    if (buffer.writers.empty() || buffer.writers.back() != at) buffer.writers.push_back(at);
    return buffer;
  };
  for (size_t i = 0; i < instr.in.size(); ++i) {
    if (instr.in[i] != kNoValue && instr.op->writes(i)) add(instr.in[i]).changed = true;
  }
  for (ValueId id : instr.out) {
    OfValue& value = values_[static_cast<size_t>(id)];
    value.maker = at;
    ++value.makers;
    if (!IsAlias(graph, instr)) add(id);
  }
}

void Uses::AddLeaving(const Graph& graph, ValueId id) {
  values_[static_cast<size_t>(id)].leaves = true;
  buffers_[static_cast<size_t>(graph.value(id).buffer)].last_reader = kNone;
}

size_t Uses::VersionAt(BufferId id, size_t at) const {
  const std::vector<size_t>& writers = of_buffer(id).writers;
  return static_cast<size_t>(std::lower_bound(writers.begin(), writers.end(), at) -
                             writers.begin());
}

}  // namespace firn
