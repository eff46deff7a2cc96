#ifndef FIRN_NN_LAYER_H_
#define FIRN_NN_LAYER_H_

#include <array>
#include <string>
#include <tuple>

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

}  // namespace firn::nn

#endif  // FIRN_NN_LAYER_H_
