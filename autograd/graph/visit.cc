// The view of an operation that all code which prints, draws or counts operations shares.

#include "firn/autograd/graph/visit.h"

#include "firn/tensor/op.h"

namespace firn {
namespace {

void AddValues(const Graph& graph, absl::Span<const ValueId> ids,
               absl::InlinedVector<ValueView, 4>& views) {
  for (ValueId id : ids) views.push_back({id, id == kNoValue ? nullptr : &graph.value(id).spec});
}

}  // namespace

void VisitOperations(const Graph& graph, absl::FunctionRef<void(const OpView&)> fn) {
  for (size_t i = 0; i < graph.instrs.size(); ++i) {
    const Instr& instr = graph.instrs[i];
    OpView view;
    view.index = i;
    view.instr = &instr;
    view.name = instr.op->name;
    view.module_path = instr.module_path();
    view.phase = instr.phase;
    view.attributes = ToString(instr.attrs.ref());
    if (view.attributes == "{}") view.attributes.clear();
    AddValues(graph, instr.in, view.inputs);
    AddValues(graph, instr.out, view.outputs);
    fn(view);
  }
}

std::string_view NameOf(Buffer::Kind kind) {
  switch (kind) {
    case Buffer::Kind::kInput:
      return "input";
    case Buffer::Kind::kState:
      return "state";
    case Buffer::Kind::kConstant:
      return "constant";
    case Buffer::Kind::kTemp:
      return "temp";
  }
  return "?";
}

}  // namespace firn
