// batch_norm_train writes what the activation reads; batch_norm_act_train writes what the
// activation would have written.

#include "autograd/graph/passes/fuse_activation.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "autograd/graph/analysis.h"
#include "autograd/graph/passes/rewrite.h"
#include "tensor/norm.h"

namespace firn {
namespace {

std::optional<FusedActivation> ActivationOf(const Instr& instr) {
  if (instr.op->name == "relu") return FusedActivation::kRelu;
  if (instr.op->name == "tanh") return FusedActivation::kTanh;
  return {};
}

// The position of the activation that alone reads the result of batch norm `at`.
std::optional<size_t> ActivationAfter(const Graph& graph, const Uses& uses, size_t at) {
  const Instr& norm = graph.instrs[at];
  if (norm.op->name != "batch_norm_train") return {};
  const ValueId y = norm.out[0];
  const DType dtype = graph.value(y).spec.dtype;
  const bool exact = dtype == DType::kF32 || dtype == DType::kF64;
  if (!exact || uses.leaves(y) || uses.readers(y).size() != 1) return {};
  if (graph.buffer_of(y).kind != Buffer::Kind::kTemp) return {};
  const size_t reader = uses.readers(y)[0];
  if (!ActivationOf(graph.instrs[reader])) return {};
  // Its result is there from the batch norm on: nothing may have been in that place before.
  const BufferId place = graph.value(graph.instrs[reader].out[0]).buffer;
  if (uses.writers(place)[0] != reader) return {};
  return reader;
}

}  // namespace

absl::StatusOr<PassReport> FuseActivation(Graph& graph) {
  static const OpDef& fused = Op("batch_norm_act_train");
  PassReport report{.pass = "fuse_activation"};
  const Uses uses(graph);
  std::vector<bool> gone(graph.instrs.size(), false);
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    const std::optional<size_t> reader = ActivationAfter(graph, uses, at);
    if (!reader) continue;
    Instr &norm = graph.instrs[at], &activation = graph.instrs[*reader];
    report.Add(absl::StrCat(Describe(activation), " into ", Describe(norm)));
    BatchNormAttrs attrs = norm.attrs.ref().get<BatchNormAttrs>();
    attrs.activation = *ActivationOf(activation);
    norm.attrs = Attrs(attrs);
    norm.op = &fused;
    norm.out[0] = activation.out[0];
    gone[*reader] = true;
  }
  Rearrange(graph, gone);
  return report;
}

}  // namespace firn
