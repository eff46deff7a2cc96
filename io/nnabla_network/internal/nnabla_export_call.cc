// If a call writes into a value, each value that shares elements with it is from then on gathered
// from its own elements and the written ones.
#include "firn/io/nnabla_network/internal/nnabla_export_call.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "firn/tensor/op.h"

namespace firn::io::internal {
namespace {

absl::flat_hash_map<std::string_view, NnablaExportRule>& Rules() {
  static auto& rules = *new absl::flat_hash_map<std::string_view, NnablaExportRule>();
  return rules;
}

}  // namespace

NnablaExportRegistration::NnablaExportRegistration(std::string_view op, NnablaExportRule rule) {
  Rules().emplace(op, rule);
}

const NnablaExportRule* FindNnablaExport(std::string_view op) {
  const auto at = Rules().find(op);
  return at == Rules().end() ? nullptr : &at->second;
}

NnablaExportCall::NnablaExportCall(const Graph& graph, const Graph& other)
    : NnablaNodes(graph, other), now_(graph.values.size()) {}

void NnablaExportCall::Take(const Instr& instr) {
  CapturedCall::Take(instr);
  Begin(instr.module_path(), instr.op->name);
}

NnablaValue NnablaExportCall::in(size_t i) {
  return has(i) ? Current(instr().in[i]) : NnablaValue();
}

void NnablaExportCall::Out(size_t i, NnablaValue value) {
  Bind(instr().out[i], Reshape(std::move(value), out_sizes(i)));
}

void NnablaExportCall::Write(size_t i, NnablaValue value) {
  const ValueId written = instr().in[i];
  Bind(written, Reshape(std::move(value), sizes(i)));
  for (const ValueId id : InBufferOf(written)) {
    if (id != written && bound(id)) Refresh(id, written);
  }
}

void NnablaExportCall::Refresh(ValueId id, ValueId written) {
  if (SameElements(id, written)) return Bind(id, Current(written));
  if (!wanted(id)) return;
  const Numbers from = PlacesAfterWrite(id, written);
  if (from.empty()) return;
  Fixed(SizesOf(id));
  const auto flat = [&](ValueId of) {
    const NnablaValue x = Current(of);
    int64_t count = 1;
    for (const CapturedSize& size : x.sizes) count *= size.now;
    return Reshape(x, Numbers{count});
  };
  Bind(id, Reshape(Gather(Concat({flat(id), flat(written)}, 0), 0, from), SizesOf(id)));
}

}  // namespace firn::io::internal
