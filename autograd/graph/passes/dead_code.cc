// Dead code, from the last operation to the first: an operation is needed if it writes a state, if
// other ranks wait for this one in it (OpDef::collective), or if it writes elements that something
// after it reads. Elements are told apart by buffer, so a write through one view counts for readers
// through another. A view in its argument's memory writes nothing: it is needed if the elements
// that it names are.

#include "firn/autograd/graph/passes/dead_code.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "firn/autograd/graph/analysis.h"

namespace firn {
namespace {

class Liveness {
 public:
  Liveness(const Graph& graph, bool keep_states)
      : graph_(graph),
        keep_states_(keep_states),
        values_(graph.values.size()),
        buffers_(graph.buffers.size()) {
    for (size_t b = 0; b < graph.buffers.size(); ++b) {
      buffers_[b] = keep_states && graph.buffers[b].kind == Buffer::Kind::kState;
    }
    for (ValueId id : graph.outputs) Need(id);
    for (const GradientEffect& e : graph.gradients) {
      ForEachValue(e, [this](ValueId id) { Need(id); });
    }
  }

  // Whether the operation is needed; then so are its arguments. Call for the last one first.
  bool KeepIfNeeded(const Instr& instr) {
    if (!Needed(instr)) return false;
    const bool alias = IsAlias(graph_, instr);
    for (ValueId id : instr.in) {
      if (id == kNoValue) continue;
      values_[static_cast<size_t>(id)] = true;
      if (!alias) Need(id);
    }
    return true;
  }

 private:
  bool Needed(const Instr& instr) const {
    if (keep_states_ && instr.op->collective) return true;
    if (IsAlias(graph_, instr)) return values_[static_cast<size_t>(instr.out[0])];
    for (size_t i = 0; i < instr.in.size(); ++i) {
      if (instr.in[i] != kNoValue && instr.op->writes(i) && BufferNeeded(instr.in[i])) return true;
    }
    return std::any_of(instr.out.begin(), instr.out.end(),
                       [this](ValueId id) { return BufferNeeded(id); });
  }
  bool BufferNeeded(ValueId id) const {
    return buffers_[static_cast<size_t>(graph_.value(id).buffer)];
  }
  void Need(ValueId id) {
    values_[static_cast<size_t>(id)] = true;
    buffers_[static_cast<size_t>(graph_.value(id).buffer)] = true;
  }

  const Graph& graph_;
  const bool keep_states_;
  std::vector<bool> values_, buffers_;  // that something later names, or reads
};

// By operation.
std::vector<bool> Needed(const Graph& graph, bool keep_states) {
  Liveness liveness(graph, keep_states);
  std::vector<bool> needed(graph.instrs.size());
  for (size_t i = graph.instrs.size(); i-- > 0;) needed[i] = liveness.KeepIfNeeded(graph.instrs[i]);
  return needed;
}

// The position of each kept element among the kept ones; -1 for the others. Erases those.
template <class T>
std::vector<int32_t> Compact(std::vector<T>& all, const std::vector<bool>& keep) {
  std::vector<int32_t> numbers(all.size(), -1);
  int32_t kept = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!keep[i]) continue;
    numbers[i] = kept;
    if (static_cast<size_t>(kept) != i) all[static_cast<size_t>(kept)] = std::move(all[i]);
    ++kept;
  }
  all.resize(static_cast<size_t>(kept));
  return numbers;
}

template <class F>
void ForEachId(Graph& graph, F f) {
  for (Instr& instr : graph.instrs) {
    for (ValueId& id : instr.in) f(id);
    for (ValueId& id : instr.out) f(id);
  }
  for (ValueId& id : graph.inputs) f(id);
  for (ValueId& id : graph.outputs) f(id);
  for (GradientEffect& e : graph.gradients) ForEachValue(e, f);
}

}  // namespace

void DropUnusedValues(Graph& graph) {
  std::vector<bool> values(graph.values.size()), buffers(graph.buffers.size());
  ForEachId(graph, [&](ValueId& id) {
    if (id == kNoValue) return;
    values[static_cast<size_t>(id)] = true;
    buffers[static_cast<size_t>(graph.value(id).buffer)] = true;
  });
  // The tensors that hold the memory of what is used.
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const Value& v = graph.values[id];
    if (v.bound.defined() && buffers[static_cast<size_t>(v.buffer)]) values[id] = true;
  }
  const std::vector<int32_t> value_numbers = Compact(graph.values, values);
  const std::vector<int32_t> buffer_numbers = Compact(graph.buffers, buffers);
  for (Value& v : graph.values) v.buffer = buffer_numbers[static_cast<size_t>(v.buffer)];
  ForEachId(graph, [&](ValueId& id) {
    if (id != kNoValue) id = value_numbers[static_cast<size_t>(id)];
  });
}

absl::StatusOr<PassReport> EliminateDeadCode(Graph& graph) {
  PassReport report{.pass = "dead_code"};
  const std::vector<bool> needed = Needed(graph, true);
  for (size_t i = 0; i < graph.instrs.size(); ++i) {
    if (!needed[i]) report.Add(Describe(graph.instrs[i]));
  }
  Compact(graph.instrs, needed);
  DropUnusedValues(graph);
  return report;
}

void KeepOnlyOutputs(Graph& graph) {
  Compact(graph.instrs, Needed(graph, false));
  DropUnusedValues(graph);
}

}  // namespace firn
