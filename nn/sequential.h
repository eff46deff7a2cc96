#ifndef FIRN_NN_SEQUENTIAL_H_
#define FIRN_NN_SEQUENTIAL_H_

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nn/function_layer.h"
#include "nn/layer.h"

namespace firn::nn {

// How to make one layer of a Sequential: New<Linear>({.out = 10}), or a function of a tensor, or
// either with a name: {"fc", New<Linear>({.out = 10})}.
class LayerSpec {
 public:
  // Requires: `factory` makes a Layer.
  explicit LayerSpec(ModuleFactory factory) : factory_(std::move(factory)) {}
  template <class F>
  requires(std::is_invocable_r_v<Tensor, F, const Tensor&>) LayerSpec(F function)  // NOLINT
      : LayerSpec(OfFunction(std::move(function))) {}
  LayerSpec(std::string name, LayerSpec unnamed)
      : name_(std::move(name)), factory_(std::move(unnamed.factory_)) {}

  const std::string& name() const { return name_; }  // "" for the position
  const ModuleFactory& factory() const { return factory_; }

 private:
  static ModuleFactory OfFunction(std::function<Tensor(const Tensor&)> function);

  std::string name_;
  ModuleFactory factory_;
};

template <class M>
requires(std::derived_from<M, Layer>&& requires { typename M::Options; }) LayerSpec
    New(const typename M::Options& options = {}) {
  return LayerSpec(FactoryOf<M>(options));
}
// A layer without Options, made from copies of `args`.
template <class M, class... Args>
requires(std::derived_from<M, Layer> && !requires { typename M::Options; }) LayerSpec
    New(const Args&... args) {
  return LayerSpec(FactoryFrom<M>(args...));
}

// Layers one after another. Without a name of its own a layer is called by its position.
//
//   nn::Sequential net({
//       nn::New<nn::Conv2d>({.out = 32, .kernel = 3}),
//       nn::New<nn::Relu>(),
//       [](const Tensor& x) { return Flatten(x, 1); },
//       {"fc", nn::New<nn::Linear>({.out = 10})},
//   });
class Sequential final : public Layer {
 public:
  using Options = std::vector<LayerSpec>;
  Sequential() = default;
  explicit Sequential(const Options& layers);

  // The layers that a clone starts from.
  const Options& options() const { return options_; }
  // Adds a layer at the end.
  Layer& Append(const LayerSpec& layer);
  template <class M>
  M& Append(const typename M::Options& options = {}) {
    return static_cast<M&>(Append(New<M>(options)));
  }

  size_t size() const { return num_children(); }
  Layer& operator[](size_t i) const { return static_cast<Layer&>(child(i)); }

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Options options_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_SEQUENTIAL_H_
