// Does what Apply does around a kernel, and keeps the arguments in between.
#include "firn/tensor/internal/waiting_call.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"

namespace firn::inner::internal {

WaitingCall::WaitingCall(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                         Prepared prepared)
    : op_(op), attrs_(attrs), prepared_(std::move(prepared)) {
  absl::flat_hash_map<const TensorImpl*, size_t> place;  // in held_
  for (const TensorRef& t : in) {
    if (!t.defined()) {
      in_.emplace_back();
      continue;
    }
    const auto [it, inserted] = place.try_emplace(t->impl(), held_.size());
    if (inserted) held_.push_back(WrapStorage(t->impl()->storage, t->impl()->data, t.spec()));
    in_.push_back(held_[it->second]);
  }
}

absl::Status WaitingCall::TakeMemory(Device device) {
  const std::vector<TensorRef> in(in_.begin(), in_.end());
  FIRN_RETURN_IF_ERROR(Arrange(op_, prepared_, in, &arranged_));
  if (prepared_.workspace == 0) return absl::OkStatus();
  return workspace_.Allocate(prepared_.workspace, device);
}

absl::Status WaitingCall::Run() {
  KernelContext context(arranged_.operands, {}, attrs_.ref(), workspace_.data());
  context.set_state(prepared_.state.get());
  return prepared_.run(context);
}

}  // namespace firn::inner::internal
