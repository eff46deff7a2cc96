// Replicas share what no run writes: the graph with its constants, the kernels' answers, and the
// tensors that are its states. Each replica has its own copy of what a run writes: arena, operands,
// steps.

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/executor.h"
#include "firn/autograd/graph/passes/pass.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/owner.h"

namespace firn {
namespace {

// The position in a random stream (tensor/ops/random/random_rules.h). Kernels of the CPU move it on
// atomically; those of a CUDA device stand in one queue.
bool IsRandomStream(const ArgDecl& arg) {
  return arg.inout && arg.dtypes == SetOf(DType::kI64) && arg.min_rank == 1 && arg.max_rank == 1;
}

absl::Status ChangesState(const Graph& graph, const Instr& instr, ValueId id) {
  const Value& v = graph.value(id);
  return FailedPrecondition(
      Describe(instr), " changes ", v.bound.defined() ? NameOfKept(v.bound) : "a state ",
      v.bound.defined() ? "" : v.spec.ToString(),
      ", which replicas would do at once; capture the network in Eval(), or give each thread one of"
      " its own (nn::Clone)");
}

// Whether runs change nothing that replicas would share.
absl::Status CheckChangesNothing(const Graph& graph) {
  FIRN_RETURN_IF(
      !graph.gradients.empty(),
      FailedPrecondition("the graph computes the gradient of ", NameOfKept(graph.gradients[0].leaf),
                         ", which replicas would do at once; give each thread a network"
                         " of its own (nn::Clone)"));
  const auto is_state = [&](ValueId id) {
    return id != kNoValue && graph.buffer_of(id).kind == Buffer::Kind::kState;
  };
  for (const Instr& instr : graph.instrs) {
    FIRN_RETURN_IF(instr.op->collective,
                   FailedPrecondition(Describe(instr),
                                      " is called by all ranks in one order, which"
                                      " replicas that run at once do not keep"));
    if (!Computes(graph, instr)) continue;
    for (size_t i = 0; i < instr.in.size(); ++i) {
      const bool writes = instr.op->writes(i) && !IsRandomStream(instr.op->input(i));
      if (writes && is_state(instr.in[i])) return ChangesState(graph, instr, instr.in[i]);
    }
    const auto written = std::find_if(instr.out.begin(), instr.out.end(), is_state);
    if (written != instr.out.end()) return ChangesState(graph, instr, *written);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Executor>> Executor::Replica() {
  FIRN_RETURN_IF_ERROR(CheckNotRunning());
  FIRN_RETURN_IF_ERROR(CheckChangesNothing(graph_));
  const internal::PrecisionScope precision(precision_);
  auto replica =
      std::unique_ptr<Executor>(new Executor(shared_graph_, modes_, options_, precision_));
  const auto on_device = [](const Buffer& b) { return b.device.is_cuda(); };
  if (std::any_of(graph_.buffers.begin(), graph_.buffers.end(), on_device)) {
    replica->turn_ = turn_;
  }
  {
    const std::lock_guard<std::mutex> lock(turn_->mutex);  // a run may bind anew
    replica->prepared_ = prepared_;
    replica->prepared_threads_ = prepared_threads_;
  }
  FIRN_RETURN_IF_ERROR(replica->Bind());
  replica->FindLeftGradients();
  return replica;
}

}  // namespace firn
