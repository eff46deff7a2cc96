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
    const CallScope scope(*this);
    if (!has_hooks()) [[likely]]
      return Forward(in...);
    std::array<Tensor, sizeof...(In)> inputs = {in...};
    return hooks().Run(*this, absl::MakeSpan(inputs), [&] {
      return std::apply([&](const In&... x) { return Forward(x...); }, inputs);
    });
  }

 protected:
  virtual Tensor Forward(const In&... in) = 0;
};

using Layer = LayerOf<Tensor>;

}  // namespace firn::nn

#endif  // FIRN_NN_LAYER_H_
