// A packed weight is a constant of its own; the plain one goes if nothing else reads it.

#include "firn/autograd/graph/pack_parameters.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/kernel_call.h"
#include "firn/autograd/graph/passes/dead_code.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/graph_traits.h"

namespace firn {

absl::StatusOr<PassReport> PackParameters(Graph& graph) {
  PassReport report{.pass = "pack_parameters"};
  for (Instr& instr : graph.instrs) {
    const std::optional<Packing>& packing = TraitsOf(*instr.op).packing;
    if (!packing) continue;
    const ValueId plain = instr.in[packing->input];
    const bool constant =
        plain != kNoValue && graph.buffer_of(plain).kind == Buffer::Kind::kConstant;
    if (!constant || !graph.value(plain).bound.defined()) continue;
    FIRN_ASSIGN_OR_RETURN(
        std::optional<PackedCall> packed,
        packing->pack(KernelCall(graph, instr).query(), *instr.kernel, graph.value(plain).bound));
    if (!packed) continue;
    report.Add(absl::StrCat(Describe(instr), ": ", graph.value(plain).spec.ToString()));
    instr.in[packing->input] = AddConstant(graph, packed->packed);
    instr.op = packed->call.op;
    instr.attrs = std::move(packed->call.attrs);
    FIRN_ASSIGN_OR_RETURN(const Prepared p, KernelCall(graph, instr).Prepare());
    instr.kernel = p.kernel;
  }
  if (report.changes != 0) DropUnusedValues(graph);
  return report;
}

}  // namespace firn
