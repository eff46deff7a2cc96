// Hooks of leaves stay with the leaf, those of computed tensors with the node that computed them.

#include "firn/autograd/hooks.h"

#include <algorithm>
#include <utility>

#include "firn/device/inner.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/grad_meta.h"

namespace firn {

HookHandle::HookHandle(std::weak_ptr<bool> active) : active_(std::move(active)) {}

void HookHandle::Remove() {
  if (const std::shared_ptr<bool> active = active_.lock()) *active = false;
}

HookHandle RegisterHook(const Tensor& tensor, GradHook hook) {
  if (!tensor.requires_grad()) {
    RaiseStatus(FailedPrecondition("the tensor does not require a gradient"), "register_hook");
  }
  if (hook == nullptr) RaiseStatus(InvalidArgument("the hook is empty"), "register_hook");
  auto entry = std::make_shared<GradHookEntry>();
  entry->fn = std::move(hook);
  const TensorImpl& impl = *tensor.impl();
  if (impl.grad_node) {
    impl.grad_node->AddHook(impl.grad_slot, entry);
  } else {
    GradMeta& meta = EnsureGradMeta(tensor);
    // Leaves live long: forget the hooks that were removed.
    std::erase_if(meta.hooks, [](const auto& h) { return !h->active; });
    meta.hooks.push_back(entry);
  }
  return HookHandle(std::shared_ptr<bool>(entry, &entry->active));
}

}  // namespace firn
