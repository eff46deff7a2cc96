#ifndef FIRN_NN_HOOKS_H_
#define FIRN_NN_HOOKS_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "firn/autograd/hooks.h"
#include "firn/tensor/tensor.h"

namespace firn::nn {

class Module;

// Runs before a layer's Forward and may replace the inputs in place.
using ForwardPreHook = std::function<void(Module& layer, absl::Span<Tensor> inputs)>;
// Runs after a layer's Forward and may replace the output.
using ForwardHook =
    std::function<void(Module& layer, absl::Span<const Tensor> inputs, Tensor& output)>;
// Runs in backward once the gradient of the layer's first input is complete. `grad_input` is
// undefined when that input needs no gradient. A defined result replaces grad_input (when there is
// one).
using BackwardHook =
    std::function<Tensor(Module& layer, const Tensor& grad_input, const Tensor& grad_output)>;

// Hooks of one kind, run in the order of registration. They may register and remove others. Defined
// in hooks.cc for the three kinds there are.
template <class Fn>
class HookList {
 public:
  HookHandle Add(Fn fn);
  bool empty() const;
  template <class Visitor>
  void ForEach(Visitor visit) const;

 private:
  struct Entry;
  std::vector<std::shared_ptr<Entry>> entries_;
};

// Gives parameters of a layer their values for the time of a call (nn/parametrize.h).
class ComputedParameters {
 public:
  // Computes parameters that have no value yet. On an error nothing has changed, and End is not
  // called.
  virtual void Begin() = 0;
  // Removes the values when the last running call ends.
  virtual void End() noexcept = 0;

 protected:
  ~ComputedParameters() = default;
};

// While it lives, the parameters that `computed` computes have values. Null does nothing.
class ComputedScope {
 public:
  [[nodiscard]] explicit ComputedScope(ComputedParameters* computed) : computed_(computed) {
    if (computed_ != nullptr) computed_->Begin();
  }
  ~ComputedScope() {
    if (computed_ != nullptr) computed_->End();
  }
  ComputedScope(const ComputedScope&) = delete;
  ComputedScope& operator=(const ComputedScope&) = delete;

 private:
  ComputedParameters* const computed_;
};

// The hooks of one layer. Thread-compatible.
class Hooks {
 public:
  HookList<ForwardPreHook> pre;
  HookList<ForwardHook> post;
  HookList<BackwardHook> backward;
  ComputedParameters* computed = nullptr;  // a child of the layer, or none

  bool empty() const {
    return pre.empty() && post.empty() && backward.empty() && computed == nullptr;
  }
  // Calls `forward`, which reads `inputs`, with all hooks around it. `layer` outlives the backward
  // pass.
  Tensor Run(Module& layer, absl::Span<Tensor> inputs,
             const std::function<Tensor()>& forward) const;
};

}  // namespace firn::nn

#endif  // FIRN_NN_HOOKS_H_
