// An operation writes what the activation reads; its call with the activation (batch_norm_act_train
// for batch_norm_train, conv2d_act for conv2d) writes what the activation would have written.

#include "firn/autograd/graph/passes/fuse_activation.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/tensor/graph_traits.h"

namespace firn {
namespace {

// An activation, by its position, and what computes it together with what it reads.
struct Fused {
  size_t reader;
  OpCall call;
};

// The activation that alone reads the result of the operation `at`.
std::optional<Fused> FusedAt(const Graph& graph, const Uses& uses, size_t at) {
  const Instr& instr = graph.instrs[at];
  const auto with_activation = TraitsOf(*instr.op).with_activation;
  if (with_activation == nullptr) return {};
  const ValueId y = instr.out[0];
  if (uses.leaves(y) || uses.readers(y).size() != 1) return {};
  if (graph.buffer_of(y).kind != Buffer::Kind::kTemp) return {};
  const size_t reader = uses.readers(y)[0];
  const FusedActivation activation = TraitsOf(*graph.instrs[reader].op).activation;
  if (activation == FusedActivation()) return {};
  // The result exists from this operation on, so nothing may have used its place before.
  const BufferId place = graph.value(graph.instrs[reader].out[0]).buffer;
  if (uses.writers(place)[0] != reader) return {};
  std::optional<OpCall> call = with_activation(instr.attrs.ref(), graph.value(y).spec, activation);
  if (!call) return {};
  return Fused{reader, *std::move(call)};
}

}  // namespace

absl::StatusOr<PassReport> FuseActivation(Graph& graph) {
  PassReport report{.pass = "fuse_activation"};
  const Uses uses(graph);
  std::vector<bool> gone(graph.instrs.size(), false);
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    std::optional<Fused> fused = FusedAt(graph, uses, at);
    if (!fused) continue;
    Instr &instr = graph.instrs[at], &activation = graph.instrs[fused->reader];
    report.Add(absl::StrCat(Describe(activation), " into ", Describe(instr)));
    instr.op = fused->call.op;
    instr.attrs = std::move(fused->call.attrs);
    instr.out[0] = activation.out[0];
    gone[fused->reader] = true;
  }
  Rearrange(graph, gone);
  return report;
}

}  // namespace firn
