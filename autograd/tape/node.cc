// Nodes, edges and saved tensors.
//
// Ownership: result -> node -> edge -> (node of the argument | leaf). Saved inputs are ordinary
// handles; saved outputs are aliases of the storage, so no cycle can form.

#include "firn/autograd/tape/node.h"

#include <algorithm>

#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"

namespace firn::autograd {

void Node::Renumber(uint64_t after) { seq_ = last_seq_ = std::max(after, last_seq_) + 1; }

Node::Observers& Node::observers() {
  if (observers_ == nullptr) observers_ = std::make_unique<Observers>();
  return *observers_;
}

void Node::AddHook(uint32_t slot, std::shared_ptr<GradHookEntry> hook) {
  observers().hooks.emplace_back(slot, std::move(hook));
}

void Node::Retain(uint32_t slot, std::shared_ptr<Tensor> cell) {
  observers().retained.emplace_back(slot, std::move(cell));
}

void RunHook(const GradHookEntry& hook, Tensor& grad) {
  if (!hook.active || !grad.defined()) return;
  Tensor replaced = hook.fn(grad);
  if (!replaced.defined()) return;
  if (replaced.shape() != grad.shape() || replaced.dtype() != grad.dtype() ||
      replaced.device() != grad.device()) {
    RaiseStatus(InvalidArgument("a hook returned ", replaced.spec().ToString(),
                                " for the gradient ", grad.spec().ToString()),
                "backward");
  }
  grad = std::move(replaced);
}

void Node::RunObservers(absl::Span<Tensor> grads, RetainedGradients& retained) const {
  const auto hooks = observers_->hooks;  // a hook may add hooks
  for (const auto& [slot, hook] : hooks) RunHook(*hook, grads[slot]);
  for (const auto& [slot, cell] : observers_->retained) {
    if (grads[slot].defined()) retained.emplace_back(cell, grads[slot]);
  }
}

void RaiseInBackward(const Node& node, const absl::Status& status) {
  const PathScope no_path(nullptr);  // the message names the path itself
  const std::string_view path = node.path();
  const std::string_view message(status.message().data(), status.message().size());
  RaiseStatus(absl::Status(status.code(), internal::Message(node.name(), path.empty() ? "" : " at ",
                                                            path, " ", message)),
              "backward");
}

SavedTensor SavedTensor::Input(const Tensor& t) {
  SavedTensor s;
  if (!t.defined()) return s;
  s.tensor_ = t;
  s.version_ = t.impl()->storage->version();
  return s;
}

SavedTensor SavedTensor::Output(const Tensor& t, uint32_t slot) {
  SavedTensor s;
  s.tensor_ = WrapStorage(t.impl()->storage, t.impl()->data, t.spec());
  s.version_ = t.impl()->storage->version();
  s.slot_ = slot;
  s.output_ = true;
  return s;
}

Tensor SavedTensor::Unpack(Node& owner) const {
  if (!tensor_.defined()) return tensor_;
  TensorImpl* impl = tensor_.impl();
  if (impl->storage->version() != version_) {
    RaiseInBackward(owner,
                    FailedPrecondition("was computed from a tensor that was changed in place since "
                                       "(version ",
                                       impl->storage->version(), ", saved at ", version_, ")"));
  }
  if (!output_ || !GradEnabled()) return tensor_;
  // An alias with history; ours stays without, or the node would own itself.
  Tensor output = WrapStorage(impl->storage, impl->data, impl->spec);
  owner.SetHistory(output, slot_);
  return output;
}

}  // namespace firn::autograd
