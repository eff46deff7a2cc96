#ifndef FIRN_AUTOGRAD_GRADIENT_LISTENER_H_
#define FIRN_AUTOGRAD_GRADIENT_LISTENER_H_

// Gradients of leaves while Backward goes on: what reduces them among processes starts as soon as
// one is final, and waits for the last.

#include <memory>
#include <optional>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

// Told of the gradients of leaves. All calls come from the thread that runs Backward, in
// NoGradScope unless the pass is recorded, and inside a capture where one runs: what they compute
// is part of it.
class GradientListener {
 public:
  virtual ~GradientListener() = default;
  // Before the pass finds anything, once for each listener of leaves that its roots were computed
  // from: by what the seeds of all roots are multiplied, so that the pass differentiates its roots
  // times that. Every gradient of the pass has it then, also what goes by operations that exchange
  // something with other processes. 0 makes zeros of the seeds and of the gradients that Ready
  // gets. An empty answer: this listener asks for nothing. Where two listeners ask for different
  // numbers, the pass cancels both and throws InvalidArgument.
  virtual std::optional<double> Weight() { return {}; }
  // The pass has found the gradient of `leaf`, hooks included, while it goes on with what lies
  // before. What is left in `grad` (of the leaf's spec; undefined: nothing) is added to grad() when
  // the pass ends; until Finish returns its elements may still change. Nobody else has the tensor
  // that comes, unless the pass is recorded. Once a pass and leaf, those
  // first that are final first: the same network gives the same order. Leaves that the pass does
  // not reach are not told of.
  virtual void Ready(const Tensor& leaf, Tensor& grad) = 0;
  // The pass has found all gradients, and no grad() has changed. After it throws none has either;
  // what can still fail is memory for adding.
  virtual void Finish() = 0;
  // The pass has failed after a Ready, or since listeners ask for different weights, and no grad()
  // has changed.
  virtual void Cancel() noexcept = 0;
};

// Listening, for as long as it lives. Movable.
class GradientListening {
 public:
  GradientListening() = default;
  GradientListening(std::vector<Tensor> leaves, std::shared_ptr<GradientListener> listener);
  ~GradientListening();
  GradientListening(GradientListening&& other) noexcept;
  GradientListening& operator=(GradientListening&& other) noexcept;

 private:
  std::vector<Tensor> leaves_;
};

// Tells `listener` of the gradients of `leaves` in every Backward (not in Grad, which adds to no
// grad()). Throws firn::Error when one is undefined, computed, needs no gradient or has a listener
// already; none is then listened to. A Backward without such a leaf costs nothing more.
[[nodiscard]] GradientListening ListenToGradients(std::vector<Tensor> leaves,
                                                  std::shared_ptr<GradientListener> listener);

namespace inner {
// What a pass asks: whether any leaf of the program is listened to, and by whom this one is (null:
// nobody).
bool AnyGradientListeners();
std::shared_ptr<GradientListener> GradientListenerOf(const Tensor& leaf);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRADIENT_LISTENER_H_
