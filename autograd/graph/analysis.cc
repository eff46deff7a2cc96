// Readers and writers, found in one walk over the instructions.

#include "firn/autograd/graph/analysis.h"

#include <algorithm>
#include <numeric>
#include <utility>

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
  // A buffer that a collective call writes into in place, and that nothing names later, may be
  // written until the run ends, so it lives that long. It does so even if a wait has ended the call
  // before.
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    const Instr& instr = graph.instrs[at];
    if (!instr.op->collective) continue;
    for (size_t i = 0; i < instr.in.size(); ++i) {
      if (instr.in[i] == kNoValue || !instr.op->writes(i)) continue;
      Lifespan& span = spans[static_cast<size_t>(graph.value(instr.in[i]).buffer)];
      if (span.last == at) span.last = graph.instrs.size();
    }
  }
  return spans;
}

bool IsAlias(const Graph& graph, const Instr& instr) {
  return instr.op->is_view && graph.value(instr.in[0]).buffer == graph.value(instr.out[0]).buffer;
}

bool Computes(const Graph& graph, const Instr& instr) {
  if (instr.op->is_view) return false;
  return instr.op->any_inout || instr.op->collective || instr.out.empty() ||
         std::any_of(instr.out.begin(), instr.out.end(),
                     [&](ValueId id) { return graph.value(id).spec.num_elements() != 0; });
}

Uses::Lists::Lists(size_t count, absl::Span<const Entry> entries)
    : begins_(count + 1), positions_(entries.size()) {
  for (const auto& [list, at] : entries) ++begins_[static_cast<size_t>(list) + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  std::vector<size_t> next = begins_;
  for (const auto& [list, at] : entries) positions_[next[static_cast<size_t>(list)]++] = at;
}

Uses::Uses(const Graph& graph) : values_(graph.values.size()), buffers_(graph.buffers.size()) {
  std::vector<Lists::Entry> reads, writes;
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    AddReads(graph, at, reads);
    AddWrites(graph, at, writes);
  }
  readers_ = Lists(values_.size(), reads);
  writers_ = Lists(buffers_.size(), writes);
  for (ValueId id : graph.outputs) AddLeaving(graph, id);
  for (const GradientEffect& e : graph.gradients) {
    if (e.value != kNoValue) AddLeaving(graph, e.value);
  }
}

void Uses::AddReads(const Graph& graph, size_t at, std::vector<Lists::Entry>& reads) {
  const Instr& instr = graph.instrs[at];
  const bool alias = IsAlias(graph, instr);
  for (ValueId id : instr.in) {
    if (id == kNoValue) continue;
    reads.emplace_back(id, at);
    if (!alias) buffers_[static_cast<size_t>(graph.value(id).buffer)].last_reader = at;
  }
}

void Uses::AddWrites(const Graph& graph, size_t at, std::vector<Lists::Entry>& writes) {
  const Instr& instr = graph.instrs[at];
  const auto add = [&](ValueId id) -> OfBuffer& {
    const BufferId number = graph.value(id).buffer;
    OfBuffer& buffer = buffers_[static_cast<size_t>(number)];
    if (std::exchange(buffer.last_writer, at) != at) writes.emplace_back(number, at);
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
  const absl::Span<const size_t> writers = this->writers(id);
  return static_cast<size_t>(std::lower_bound(writers.begin(), writers.end(), at) -
                             writers.begin());
}

}  // namespace firn
