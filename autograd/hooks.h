#ifndef FIRN_AUTOGRAD_HOOKS_H_
#define FIRN_AUTOGRAD_HOOKS_H_

#include <memory>

#include "firn/tensor/tensor.h"

namespace firn {

// Names a registered hook, of a tensor or of a module. A value; dropping it leaves the hook in
// place, and it may outlive what it was registered with.
class HookHandle {
 public:
  HookHandle() = default;
  // `active` is the flag that the code which runs the hook checks.
  explicit HookHandle(std::weak_ptr<bool> active);
  // Removes the hook: it is not called again. A second Remove does nothing. A hook may remove
  // itself.
  void Remove();

 private:
  std::weak_ptr<bool> active_;
};

// Calls `hook` with the gradient of `tensor` in every Backward and Grad that reaches it: once a
// pass, with the sum over all uses. The tensor that the hook returns takes the gradient's place (an
// undefined one leaves it as it is); the shape and dtype must stay. Several hooks run in the order
// of registration, each on the last one's result. On a computed tensor the new gradient flows on;
// on a leaf it is what is added to grad(). An exception from a hook ends the pass and no grad() has
// changed.
//
// Throws when the tensor does not require a gradient. The hook lives as long as the tensor's
// history (a computed tensor) or the tensor itself (a leaf).
HookHandle RegisterHook(const Tensor& tensor, GradHook hook);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_HOOKS_H_
