// batch_norm_train and conv2d write what the activation reads; batch_norm_act_train and conv2d_act
// write what the activation would have written.

#include "autograd/graph/passes/fuse_activation.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "autograd/graph/analysis.h"
#include "autograd/graph/passes/rewrite.h"
#include "tensor/ops/conv/conv_problem.h"
#include "tensor/ops/norm/norm_options.h"

namespace firn {
namespace {

std::optional<FusedActivation> ActivationOf(const Instr& instr) {
  if (instr.op->name == "relu") return FusedActivation::kRelu;
  if (instr.op->name == "tanh") return FusedActivation::kTanh;
  return {};
}

// Whether an activation in the same pass gives what it gave on the rounded result. relu of what is
// rounded is what is rounded of relu.
bool SameRounding(DType dtype, FusedActivation activation, bool of_convolution) {
  const bool wide = dtype == DType::kF32 || dtype == DType::kF64;
  return wide || (of_convolution && activation == FusedActivation::kRelu);
}

// The position of the activation that alone reads the result of the operation `at`.
std::optional<size_t> ActivationAfter(const Graph& graph, const Uses& uses, size_t at) {
  const Instr& instr = graph.instrs[at];
  const bool convolution = instr.op->name == "conv2d";
  if (!convolution && instr.op->name != "batch_norm_train") return {};
  const ValueId y = instr.out[0];
  const TensorSpec& spec = graph.value(y).spec;
  if (convolution && spec.device.is_cpu()) return {};  // its own kernels are faster there
  if (uses.leaves(y) || uses.readers(y).size() != 1) return {};
  if (graph.buffer_of(y).kind != Buffer::Kind::kTemp) return {};
  const size_t reader = uses.readers(y)[0];
  const std::optional<FusedActivation> activation = ActivationOf(graph.instrs[reader]);
  if (!activation || !SameRounding(spec.dtype, *activation, convolution)) return {};
  // Its result is there from this operation on: nothing may have been in that place before.
  const BufferId place = graph.value(graph.instrs[reader].out[0]).buffer;
  if (uses.writers(place)[0] != reader) return {};
  return reader;
}

// Lets `instr` apply the activation, too.
void Activate(FusedActivation activation, Instr& instr) {
  static const OpDef &norm = Op("batch_norm_act_train"), &convolution = Op("conv2d_act");
  if (instr.op->name == "conv2d") {
    instr.attrs = Attrs(ConvActAttrs{instr.attrs.ref().get<ConvAttrs>(), activation});
    instr.op = &convolution;
    return;
  }
  BatchNormAttrs attrs = instr.attrs.ref().get<BatchNormAttrs>();
  attrs.activation = activation;
  instr.attrs = Attrs(attrs);
  instr.op = &norm;
}

}  // namespace

absl::StatusOr<PassReport> FuseActivation(Graph& graph) {
  PassReport report{.pass = "fuse_activation"};
  const Uses uses(graph);
  std::vector<bool> gone(graph.instrs.size(), false);
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    const std::optional<size_t> reader = ActivationAfter(graph, uses, at);
    if (!reader) continue;
    Instr &instr = graph.instrs[at], &activation = graph.instrs[*reader];
    report.Add(absl::StrCat(Describe(activation), " into ", Describe(instr)));
    Activate(*ActivationOf(activation), instr);
    instr.out[0] = activation.out[0];
    gone[*reader] = true;
  }
  Rearrange(graph, gone);
  return report;
}

}  // namespace firn
