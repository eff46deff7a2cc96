// A packed weight is a constant of its own; the plain one goes if nothing else reads it.

#include "autograd/graph/pack_parameters.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "autograd/graph/passes/dead_code.h"
#include "autograd/graph/passes/rewrite.h"
#include "device/status_macros.h"
#include "tensor/internal/kernel_choice.h"
#include "tensor/internal/packed_conv.h"

namespace firn {
namespace {

absl::StatusOr<std::optional<internal::PackedConv>> Packed(const Graph& graph, const Instr& conv) {
  absl::InlinedVector<const TensorSpec*, 8> in;
  for (ValueId id : conv.in) in.push_back(id == kNoValue ? nullptr : &graph.value(id).spec);
  const TensorSpec& y = graph.value(conv.out[0]).spec;
  const KernelQuery query(in, {&y, 1}, conv.attrs.ref());
  FIRN_ASSIGN_OR_RETURN(const Kernel* kernel, internal::SelectKernel(*conv.op, query, y.device));
  return internal::PackConv2d(query, *kernel, graph.value(conv.in[1]).bound);
}

}  // namespace

absl::StatusOr<PassReport> PackParameters(Graph& graph) {
  PassReport report{.pass = "pack_parameters"};
  for (Instr& instr : graph.instrs) {
    if (instr.op->name != "conv2d") continue;
    const bool constant = graph.buffer_of(instr.in[1]).kind == Buffer::Kind::kConstant;
    if (!constant || !graph.value(instr.in[1]).bound.defined()) continue;
    FIRN_ASSIGN_OR_RETURN(std::optional<internal::PackedConv> packed, Packed(graph, instr));
    if (!packed) continue;
    report.Add(absl::StrCat(Describe(instr), ": ", graph.value(instr.in[1]).spec.ToString()));
    instr.op = packed->op;
    instr.attrs = std::move(packed->attrs);
    instr.in[1] = AddConstant(graph, packed->weights);
  }
  if (report.changes != 0) DropUnusedValues(graph);
  return report;
}

}  // namespace firn
