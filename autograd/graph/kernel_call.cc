// Specs of a call from a graph's values. The device is that of the results, or of the arguments
// where there are none.

#include "firn/autograd/graph/kernel_call.h"

#include <string>

#include "firn/device/status_macros.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "firn/tensor/op.h"

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

absl::StatusOr<Prepared> KernelCall::Prepare() const {
  Prepared answer;
  FIRN_RETURN_IF_ERROR(internal::Prepare(*instr_.op, query(), device(), &answer));
  return answer;
}

absl::StatusOr<Prepared> KernelCall::Ask(const Kernel& kernel) const {
  Prepared answer;
  FIRN_RETURN_IF_ERROR(internal::Ask(kernel, query(), &answer));
  return answer;
}

absl::Status KernelCall::CheckLayouts(const Prepared& answer) const {
  if (answer.as_is) return absl::OkStatus();
  const Kernel& kernel = *answer.kernel;
  const LayoutRequest& want = answer.layouts;
  const auto problem = [&](const char* what, size_t i, const TensorSpec& spec, int32_t block) {
    return Internal(std::string(instr_.op->name), ": kernel ", std::string(kernel.name), " takes ",
                    what, " ", i, " with channels in blocks of ", block, " (0: row-major), it is ",
                    spec.ToString());
  };
  for (size_t i = 0; i < in_.size(); ++i) {
    if (in_[i] == nullptr || internal::Fits(kernel, *in_[i], want.in[i])) continue;
    return problem("argument", i, *in_[i], want.in[i]);
  }
  for (size_t i = 0; i < out_.size(); ++i) {
    if (out_[i].layout.channel_block == want.out[i]) continue;
    return problem("result", i, out_[i], want.out[i]);
  }
  return absl::OkStatus();
}

}  // namespace firn
