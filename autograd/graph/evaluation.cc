// Each operation that training does differently is replaced by what the eager function does in
// evaluation mode, captured on the spot.

#include "autograd/graph/evaluation.h"

#include <utility>

#include "autograd/graph/edit.h"
#include "autograd/graph/passes/dead_code.h"
#include "device/status_macros.h"
#include "tensor/op.h"
#include "tensor/ops/norm/batch_norm.h"

namespace firn {
namespace {

absl::Status ReplaceBatchNorm(Graph& graph, size_t at) {
  const Instr& instr = graph.instrs[at];
  enum { kX, kWeight, kBias, kMean, kVar };  // arguments of batch_norm_train
  FIRN_RETURN_IF(
      instr.in[kMean] == kNoValue || instr.in[kVar] == kNoValue,
      FailedPrecondition(Describe(instr), " has no running statistics to evaluate with"));
  const auto attrs = instr.attrs.ref().get<BatchNormAttrs>();
  return ReplaceOperation(graph, at, [&attrs](absl::Span<const Tensor> in) {
    return TensorList{
        BatchNorm(in[kX], in[kMean], in[kVar], in[kWeight], in[kBias],
                  {.training = false, .eps = attrs.eps, .activation = attrs.activation})};
  });
}

absl::Status ReplaceDropout(Graph& graph, size_t at) {
  return ReplaceOperation(graph, at, [](absl::Span<const Tensor> in) { return TensorList{in[0]}; });
}

struct Replacement {
  std::string_view op;
  absl::Status (*replace)(Graph&, size_t);
};
constexpr Replacement kReplacements[] = {
    {"batch_norm_train", ReplaceBatchNorm},
    {"batch_norm_act_train", ReplaceBatchNorm},
    {"dropout", ReplaceDropout},
};

}  // namespace

absl::StatusOr<Graph> ToEvaluation(const Graph& graph) {
  Graph next = graph;
  next.gradients.clear();
  KeepOnlyOutputs(next);
  for (const Instr& instr : next.instrs) {
    FIRN_RETURN_IF(instr.phase == Phase::kBackward,
                   FailedPrecondition("a result of the graph needs ", Describe(instr),
                                      "; extract the forward pass first"));
  }
  for (size_t at = next.instrs.size(); at-- > 0;) {  // what stands before keeps its place
    for (const Replacement& r : kReplacements) {
      if (next.instrs[at].op->name != r.op) continue;
      FIRN_RETURN_IF_ERROR(r.replace(next, at));
      break;
    }
  }
  KeepOnlyOutputs(next);
  FIRN_RETURN_IF_ERROR(next.Verify());
  return next;
}

}  // namespace firn
