// A packed weight is a constant of its own; the plain one goes if nothing else reads it.

#include "autograd/graph/pack_parameters.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "autograd/graph/kernel_call.h"
#include "autograd/graph/passes/dead_code.h"
#include "autograd/graph/passes/rewrite.h"
#include "device/status_macros.h"
#include "tensor/internal/packed_conv.h"
#include "tensor/op.h"

namespace firn {
absl::StatusOr<PassReport> PackParameters(Graph& graph) {
  PassReport report{.pass = "pack_parameters"};
  for (Instr& instr : graph.instrs) {
    if (instr.op->name != "conv2d") continue;
    const bool constant = graph.buffer_of(instr.in[1]).kind == Buffer::Kind::kConstant;
    if (!constant || !graph.value(instr.in[1]).bound.defined()) continue;
    FIRN_ASSIGN_OR_RETURN(std::optional<internal::PackedConv> packed,
                          internal::PackConv2d(KernelCall(graph, instr).query(), *instr.kernel,
                                               graph.value(instr.in[1]).bound));
    if (!packed) continue;
    report.Add(absl::StrCat(Describe(instr), ": ", graph.value(instr.in[1]).spec.ToString()));
    instr.op = packed->op;
    instr.attrs = std::move(packed->attrs);
    instr.in[1] = AddConstant(graph, packed->weights);
    FIRN_ASSIGN_OR_RETURN(const Prepared p, KernelCall(graph, instr).Prepare());
    instr.kernel = p.kernel;
  }
  if (report.changes != 0) DropUnusedValues(graph);
  return report;
}

}  // namespace firn
