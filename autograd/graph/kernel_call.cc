// Specs of a call from a graph's values. The device is that of the results, or of the arguments
// where there are none.

#include "autograd/graph/kernel_call.h"

#include "tensor/internal/kernel_choice.h"

namespace firn {

KernelCall::KernelCall(const Graph& graph, const Instr& instr) : KernelCall(graph, instr, {}) {
  for (ValueId id : instr.out) out_.push_back(graph.value(id).spec);
}

KernelCall::KernelCall(const Graph& graph, const Instr& instr, absl::Span<const TensorSpec> results)
    : instr_(instr), out_(results.begin(), results.end()) {
  for (ValueId id : instr.in) in_.push_back(id == kNoValue ? nullptr : &graph.value(id).spec);
}

Device KernelCall::device() const {
  Device device;
  for (const TensorSpec* spec : in_) device = spec == nullptr ? device : spec->device;
  return out_.empty() ? device : out_[0].device;
}

absl::StatusOr<const Kernel*> KernelCall::Select() const {
  return internal::SelectKernel(*instr_.op, query(), device());
}

}  // namespace firn
