// Each operation that training does differently is replaced by the function that its page gives for
// evaluation mode, which is captured on the spot.

#include "firn/autograd/graph/evaluation.h"

#include <utility>
#include <vector>

#include "firn/autograd/graph/edit.h"
#include "firn/autograd/graph/passes/dead_code.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/graph_traits.h"

namespace firn {
namespace {

// Replaces operation `at` by its form for evaluation mode.
absl::Status Replace(Graph& graph, size_t at) {
  const Instr instr = graph.instrs[at];
  const auto evaluate = TraitsOf(*instr.op).evaluate;
  if (evaluate == nullptr) return absl::OkStatus();
  absl::Status evaluated;
  const absl::Status replaced = ReplaceOperation(graph, at, [&](absl::Span<const Tensor> in) {
    absl::StatusOr<TensorList> results = evaluate(in, instr.attrs.ref());
    evaluated = results.status();
    return results.ok() ? *std::move(results) : TensorList{};
  });
  FIRN_RETURN_IF(!evaluated.ok(), FailedPrecondition(Describe(instr), " ", evaluated.message()));
  return replaced;
}

}  // namespace

absl::StatusOr<Graph> ToEvaluation(const Graph& graph) {
  Graph next = graph;
  next.gradients.clear();
  // The graph no longer depends on the modes of modules.
  std::erase_if(next.switches, [](const Switch& s) { return s.turns && !s.kept.defined(); });
  next.leaves.clear();
  KeepOnlyOutputs(next);
  for (const Instr& instr : next.instrs) {
    FIRN_RETURN_IF(instr.phase == Phase::kBackward,
                   FailedPrecondition("a result of the graph needs ", Describe(instr),
                                      "; extract the forward pass first"));
    FIRN_RETURN_IF(instr.op->collective,
                   FailedPrecondition("a result of the graph needs ", Describe(instr),
                                      ", of a batch norm over ranks for one, whose evaluation mode "
                                      "a graph does not know; capture in evaluation mode"));
  }
  for (size_t at = next.instrs.size(); at-- > 0;) {  // what stands before keeps its place
    FIRN_RETURN_IF_ERROR(Replace(next, at));
  }
  KeepOnlyOutputs(next);
  FIRN_RETURN_IF_ERROR(next.Verify());
  return next;
}

}  // namespace firn
