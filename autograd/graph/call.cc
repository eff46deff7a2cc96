// A loop over operations. A tensor is given up after the last operation that names it, so that a
// call without gradients needs no more memory than the captured code did.

#include "firn/autograd/graph/call.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

constexpr char kWho[] = "CallGraph";

absl::Status Check(const Graph& graph, absl::Span<const Tensor> inputs) {
  FIRN_RETURN_IF(inputs.size() != graph.inputs.size(),
                 InvalidArgument("expected ", graph.inputs.size(), " inputs, got ", inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorSpec& want = graph.value(graph.inputs[i]).spec;
    FIRN_RETURN_IF(!inputs[i].defined(), InvalidArgument("input ", i, " is an undefined tensor"));
    FIRN_RETURN_IF(!SameKind(want, inputs[i].spec()),
                   InvalidArgument("expected input ", i, " to be ", want.ToString(), ", got ",
                                   inputs[i].spec().ToString()));
  }
  bool backward = !graph.gradients.empty();
  for (const Instr& instr : graph.instrs) backward |= instr.phase == Phase::kBackward;
  FIRN_RETURN_IF(backward, FailedPrecondition("expected a graph without a backward pass"));
  return graph.CheckSwitches();
}

class Run {
 public:
  Run(const Graph& graph, absl::Span<const Tensor> inputs)
      : graph_(graph), tensors_(graph.values.size()), last_(graph.values.size(), 0) {
    for (size_t id = 0; id < tensors_.size(); ++id) {
      const auto value = static_cast<ValueId>(id);
      if (graph.buffer_of(value).kind != Buffer::Kind::kTemp) at(value) = graph.value(value).bound;
    }
    for (size_t i = 0; i < inputs.size(); ++i) at(graph.inputs[i]) = inputs[i];
    for (size_t i = 0; i < graph.instrs.size(); ++i) {
      for (const ValueId id : graph.instrs[i].in) Names(id, i);
      for (const ValueId id : graph.instrs[i].out) Names(id, i);
    }
    for (const ValueId id : graph.outputs) Names(id, graph.instrs.size());
  }

  TensorList operator()() {
    for (size_t i = 0; i < graph_.instrs.size(); ++i) Step(i);
    TensorList results;
    for (const ValueId id : graph_.outputs) results.push_back(at(id));
    return results;
  }

 private:
  Tensor& at(ValueId id) { return tensors_[static_cast<size_t>(id)]; }
  void Names(ValueId id, size_t i) {
    if (id != kNoValue) last_[static_cast<size_t>(id)] = i;
  }

  void Step(size_t i) {
    const Instr& instr = graph_.instrs[i];
    const PathScope path(instr.path);
    const Tensor none;
    std::vector<TensorRef> in;
    for (const ValueId id : instr.in) in.push_back(id == kNoValue ? none : at(id));
    TensorList out;
    if (instr.out.empty()) {  // written for the state's sake alone: no gradient comes back from it
      const NoGradScope no_grad;
      Apply(*instr.op, in, instr.attrs.ref());
    } else {
      out = Apply(*instr.op, in, instr.attrs.ref());
    }
    for (size_t o = 0; o < instr.out.size(); ++o) at(instr.out[o]) = std::move(out[o]);
    for (const ValueId id : instr.in) Drop(id, i);
    for (const ValueId id : instr.out) Drop(id, i);
  }
  void Drop(ValueId id, size_t i) {
    if (id != kNoValue && last_[static_cast<size_t>(id)] == i) at(id) = Tensor();
  }

  const Graph& graph_;
  std::vector<Tensor> tensors_;  // by value
  std::vector<size_t> last_;     // by value: the last operation that names it
};

}  // namespace

TensorList CallGraph(const Graph& graph, absl::Span<const Tensor> inputs) {
  RaiseIfError(Check(graph, inputs), kWho);
  return Run(graph, inputs)();
}

}  // namespace firn
