// Chooses the hook by phase.

#include "autograd/operation_hooks.h"

namespace firn {
namespace {

absl::Status CallHook(const OperationHook& forward, const OperationHook& backward,
                      const OperationCall& call) {
  const OperationHook& hook = call.phase() == Phase::kForward ? forward : backward;
  if (hook) hook(call);
  return absl::OkStatus();
}

}  // namespace

absl::Status OperationHookScope::Before(const OperationCall& call) {
  return CallHook(hooks_.before_forward, hooks_.before_backward, call);
}

absl::Status OperationHookScope::After(const OperationCall& call) {
  return CallHook(hooks_.after_forward, hooks_.after_backward, call);
}

}  // namespace firn
