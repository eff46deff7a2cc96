// Chooses the hook by phase.

#include "firn/autograd/operation_hooks.h"

#include <utility>

#include "firn/autograd/observe.h"

namespace firn {

class OperationHookScope::Observer final : public OperationObserver {
 public:
  explicit Observer(OperationHooks hooks) : OperationObserver("hook"), hooks_(std::move(hooks)) {}

 private:
  static absl::Status CallHook(const OperationHook& forward, const OperationHook& backward,
                               const OperationCall& call) {
    const OperationHook& hook = call.phase() == Phase::kForward ? forward : backward;
    if (hook) hook(call);
    return absl::OkStatus();
  }
  absl::Status Before(const OperationCall& call) override {
    return CallHook(hooks_.before_forward, hooks_.before_backward, call);
  }
  absl::Status After(const OperationCall& call) override {
    return CallHook(hooks_.after_forward, hooks_.after_backward, call);
  }

  const OperationHooks hooks_;
};

OperationHookScope::OperationHookScope(OperationHooks hooks)
    : observer_(std::make_unique<Observer>(std::move(hooks))) {}

OperationHookScope::~OperationHookScope() = default;

}  // namespace firn
