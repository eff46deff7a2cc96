// New instructions get their specs from shape rules, so what a pass makes passes Graph::Verify.

#include "firn/autograd/graph/passes/rewrite.h"

#include <algorithm>
#include <utility>

#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/infer.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/storage.h"

namespace firn {

absl::StatusOr<Instr> MakeInstr(Graph& graph, const OpDef& op, absl::Span<const ValueId> in,
                                AttrsRef attrs) {
  FIRN_RETURN_IF(attrs.type() != op.attrs,
                 Internal(op.name, " got the attributes of another operation, or none"));
  Instr instr;
  instr.op = &op;
  instr.attrs = Attrs(attrs);
  instr.in.assign(in.begin(), in.end());
  FIRN_ASSIGN_OR_RETURN(const Inferred inferred, InferSpecs(graph, instr));
  for (const TensorSpec& spec : inferred.specs) {
    if (op.is_view && !graph.value(in[0]).spec.layout.blocked()) {
      const Value& base = graph.value(in[0]);
      const int64_t offset = base.offset + inferred.view_offset * SizeOf(spec.dtype);
      instr.out.push_back(static_cast<ValueId>(graph.values.size()));
      graph.values.push_back({base.buffer, offset, spec, {}});
    } else {
      instr.out.push_back(AddTemp(graph, spec));
    }
  }
  return instr;
}

absl::StatusOr<ValueId> Emitter::Call(const OpDef& op, absl::Span<const ValueId> in,
                                      AttrsRef attrs) {
  FIRN_ASSIGN_OR_RETURN(Instr instr, MakeInstr(graph_, op, in, attrs));
  instr.path = path_;
  instr.phase = phase_;
  const ValueId result = instr.out.empty() ? kNoValue : instr.out[0];
  to_->push_back(std::move(instr));
  return result;
}

absl::StatusOr<ValueId> Emitter::As(DType dtype, ValueId id) {
  if (id == kNoValue || graph_.value(id).spec.dtype == dtype) return id;
  return Call(TheOp<"cast">(), {id}, CastAttrs{dtype});
}

void Rearrange(Graph& graph, const std::vector<bool>& gone, std::vector<Insertion> added) {
  std::stable_sort(added.begin(), added.end(),
                   [](const Insertion& a, const Insertion& b) { return a.before < b.before; });
  std::vector<Instr> instrs;
  auto next = added.begin();
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    for (; next != added.end() && next->before == at; ++next) {
      instrs.push_back(std::move(next->instr));
    }
    if (gone.empty() || !gone[at]) instrs.push_back(std::move(graph.instrs[at]));
  }
  graph.instrs = std::move(instrs);
}

ValueId AddConstant(Graph& graph, const Tensor& tensor) {
  const Storage& storage = *tensor.impl()->storage;
  const auto buffer = static_cast<BufferId>(graph.buffers.size());
  graph.buffers.push_back(
      {Buffer::Kind::kConstant, static_cast<int64_t>(storage.bytes()), tensor.device()});
  const int64_t offset = tensor.impl()->data - static_cast<const char*>(storage.data());
  graph.values.push_back({buffer, offset, tensor.spec(), tensor});
  return static_cast<ValueId>(graph.values.size() - 1);
}

bool Renaming::CanReplace(const Graph& graph, ValueId from, ValueId to) {
  return SameSpec(graph.value(from).spec, graph.value(to).spec);
}

void Renaming::ListValues(const Graph& graph) {
  values_in_.resize(graph.buffers.size());
  for (; listed_ < graph.values.size(); ++listed_) {
    const BufferId buffer = graph.values[listed_].buffer;
    values_in_[static_cast<size_t>(buffer)].push_back(static_cast<ValueId>(listed_));
  }
}

void Renaming::Replace(Graph& graph, ValueId from, ValueId to) {
  const Value target = graph.value(to);
  const BufferId old = graph.value(from).buffer;
  const int64_t shift = target.offset - graph.value(from).offset;
  if (old != target.buffer) {
    ListValues(graph);
    std::vector<ValueId>& there = values_in_[static_cast<size_t>(target.buffer)];
    for (ValueId id : std::exchange(values_in_[static_cast<size_t>(old)], {})) {
      graph.value(id).buffer = target.buffer;
      graph.value(id).offset += shift;
      there.push_back(id);
    }
  }
  now_.resize(graph.values.size(), kNoValue);
  now_[static_cast<size_t>(from)] = to;
}

ValueId Renaming::Now(ValueId id) const {
  while (id != kNoValue && static_cast<size_t>(id) < now_.size() &&
         now_[static_cast<size_t>(id)] != kNoValue) {
    id = now_[static_cast<size_t>(id)];
  }
  return id;
}

void Renaming::RenameInputs(Instr& instr) const {
  for (ValueId& id : instr.in) id = Now(id);
}

void Renaming::Apply(Graph& graph) const {
  for (Instr& instr : graph.instrs) RenameInputs(instr);
  for (ValueId& id : graph.outputs) id = Now(id);
  for (GradientEffect& e : graph.gradients) e.value = Now(e.value);
}

}  // namespace firn
