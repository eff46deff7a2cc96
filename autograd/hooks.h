#ifndef FIRN_AUTOGRAD_HOOKS_H_
#define FIRN_AUTOGRAD_HOOKS_H_

#include <memory>
#include <utility>

#include "tensor/grad_meta.h"
#include "tensor/tensor.h"

namespace firn {

// Names a registered hook. A value; dropping it leaves the hook in place.
class HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(std::shared_ptr<GradHookEntry> entry) : entry_(std::move(entry)) {}
  // The hook is not called again. Does nothing the second time.
  void Remove() {
    if (entry_ != nullptr) entry_->active = false;
  }

 private:
  std::shared_ptr<GradHookEntry> entry_;
};

// Calls `hook` with the gradient of `tensor` in every Backward and Grad that reaches it: once a
// pass, with the sum over all uses. What the hook returns takes the gradient's place (an undefined
// tensor leaves it); the shape and dtype must stay. Several hooks run in the order of registration,
// each on the last one's result. On a computed tensor the new gradient flows on; on a leaf it is
// what is added to grad(). An exception from a hook ends the pass and no grad() has changed.
//
// Throws when the tensor does not require a gradient. The hook lives as long as the tensor's
// history (a computed tensor) or the tensor itself (a leaf).
HookHandle RegisterHook(const Tensor& tensor, GradHook hook);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_HOOKS_H_
