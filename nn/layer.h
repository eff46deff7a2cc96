#ifndef FIRN_NN_LAYER_H_
#define FIRN_NN_LAYER_H_

#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "firn/nn/describe.h"
#include "firn/nn/module.h"

namespace firn::nn {

// A module that computes one tensor from In... and is called like a function. A subclass overrides
// Forward; callers write layer(x), which runs the hooks and puts the layer's path into error
// messages. Forward itself is protected, so that no call passes the hooks by.
//
//   class Gate final : public nn::Layer {
//    protected:
//     Tensor Forward(const Tensor& x) override { return x * Sigmoid(linear_(x)); }
//    private:
//     nn::Linear& linear_ = Add<nn::Linear>("linear", {.out = 16});
//   };
//
// In must be Tensor; LayerOf<Tensor, Tensor> takes two (a loss).
template <class... In>
class LayerOf : public Module {
 public:
  Tensor operator()(const In&... in) {
    return CallAs([this](const In&... x) { return Forward(x...); }, in...);
  }

 protected:
  // f(in...) as a call of the layer, inside its path and its hooks: for a call that takes more than
  // tensors, such as a mask.
  template <class F>
  Tensor CallAs(const F& f, const In&... in) {
    const CallScope scope(*this);
    if (!has_hooks()) [[likely]]
      return f(in...);
    std::array<Tensor, sizeof...(In)> inputs = {in...};
    return hooks().Run(*this, absl::MakeSpan(inputs), [&] { return std::apply(f, inputs); });
  }

  virtual Tensor Forward(const In&... in) = 0;
};

using Layer = LayerOf<Tensor>;

// A layer that is made from a struct of options and describes itself by them (nn/options.h):
//
//   class Linear final : public LayerWithOptions<LinearOptions> { ... };
//
// `Base` is the kind of layer, such as LayerOf<Tensor, Tensor>; it is made from `base`.
template <class O, class Base = Layer>
class LayerWithOptions : public Base {
 public:
  using Options = O;
  // The options that the layer was made with.
  const O& options() const { return options_; }
  std::string Describe() const override {
    O known = options_;
    AddKnown(known);
    return DescribeOptions(known);
  }

 protected:
  template <class... Args>
  explicit LayerWithOptions(const O& options, Args&&... base)
      : Base(std::forward<Args>(base)...), options_(options) {}
  // Fills in the sizes that became known later, by the first input or a state dict.
  virtual void AddKnown(O& options) const { static_cast<void>(options); }

 private:
  const O options_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_LAYER_H_
