// Forward operations move running statistics in place, which a function captured on arguments may
// not do, so their instructions are edited directly. Gradients are replaced by captured code, from
// the last to the first, so that the positions of earlier ones stay.

#include "firn/autograd/graph/unfuse.h"

#include <utility>
#include <vector>

#include "firn/autograd/graph/edit.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

using Out = inner::BatchNormOut;
using GradIn = inner::BatchNormGradIn;

constexpr char kWho[] = "UnfuseBatchNorm";

bool IsFusedGradient(const Instr& instr) {
  return instr.op == &TheOp<"batch_norm_grad">() &&
         instr.attrs.ref().get<inner::BatchNormAttrs>().activation != FusedActivation::kNone;
}

inner::BatchNormAttrs Plain(inner::BatchNormAttrs attrs) {
  attrs.activation = FusedActivation::kNone;
  return attrs;
}

// By the result of the activation.
Tensor Through(FusedActivation activation, const Tensor& dy, const Tensor& y) {
  if (activation == FusedActivation::kTanh) return Mul(dy, Sub(1, Square(y)));
  return Where(Gt(y, 0), dy, 0);
}

absl::Status UnfuseGradient(Graph& graph, size_t at) {
  const auto attrs = graph.instrs[at].attrs.ref().get<inner::BatchNormAttrs>();
  return ReplaceOperation(graph, at, [&](absl::Span<const Tensor> in) {
    std::vector<TensorRef> inputs(in.begin(), in.end());
    const Tensor none, dz = Through(attrs.activation, in[GradIn::kDy], in[GradIn::kY]);
    inputs[GradIn::kDy] = dz;
    inputs[GradIn::kY] = none;
    return Apply(TheOp<"batch_norm_grad">(), inputs, Plain(attrs));
  });
}

// The activation takes the operation's position, and the batch norm is put before it.
Insertion UnfuseForward(Graph& graph, size_t at) {
  Instr norm = graph.instrs[at];
  const auto attrs = norm.attrs.ref().get<inner::BatchNormAttrs>();
  const OpDef& activation =
      attrs.activation == FusedActivation::kTanh ? TheOp<"tanh">() : TheOp<"relu">();
  const ValueId y = norm.out[Out::kY], z = AddTemp(graph, graph.value(y).spec);
  norm.op = &TheOp<"batch_norm_train">();
  norm.attrs = Attrs(Plain(attrs));
  norm.out[Out::kY] = z;
  Instr then{.op = &activation, .attrs = {}, .in = {z}, .out = {y}, .path = norm.path};
  then.phase = norm.phase;
  graph.instrs[at] = std::move(then);
  return Insertion{at, std::move(norm)};
}

absl::StatusOr<int64_t> Unfuse(Graph& graph) {
  int64_t count = 0;
  for (size_t at = graph.instrs.size(); at-- > 0;) {
    if (!IsFusedGradient(graph.instrs[at])) continue;
    FIRN_RETURN_IF_ERROR(UnfuseGradient(graph, at));
    ++count;
  }
  std::vector<Insertion> norms;
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    if (graph.instrs[at].op != &TheOp<"batch_norm_act_train">()) continue;
    norms.push_back(UnfuseForward(graph, at));
    ++count;
  }
  Rearrange(graph, {}, std::move(norms));
  FIRN_RETURN_IF_ERROR(graph.Verify());
  return count;
}

}  // namespace

int64_t UnfuseBatchNorm(Graph& graph) {
  const NoGradScope no_grad;
  Graph next = graph;
  const absl::StatusOr<int64_t> count = Unfuse(next);
  RaiseIfError(count.status(), kWho);
  graph = std::move(next);
  return *count;
}

}  // namespace firn
