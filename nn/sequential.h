#ifndef FIRN_NN_SEQUENTIAL_H_
#define FIRN_NN_SEQUENTIAL_H_

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/nn/function_layer.h"
#include "firn/nn/layer.h"

namespace firn::nn {

// How to make one layer of a Sequential: New<Linear>({.out = 10}), or a function of a tensor, or
// either with a name: {"fc", New<Linear>({.out = 10})}.
class LayerSpec {
 public:
  // `factory` makes a Layer. Throws when it is empty.
  explicit LayerSpec(ModuleFactory factory);
  // Throws when the function is empty.
  template <class F>
  requires(std::is_invocable_r_v<Tensor, F, const Tensor&> && !std::derived_from<F, Module>)
      LayerSpec(F function)  // NOLINT: implicit, so that lambdas stand among layers
      : LayerSpec(OfFunction(std::move(function))) {}
  // Catches a mistake whose error message would fill pages: modules are not copied, so a Sequential
  // makes its own.
  template <class M>
  requires(std::derived_from<std::remove_cvref_t<M>, Module>) LayerSpec(M&&) {  // NOLINT
    static_assert(kNever<M>,
                  "a Sequential makes its layers itself: "
                  "write nn::New<nn::Linear>({.out = 10}), not nn::Linear({.out = 10})");
  }
  LayerSpec(std::string name, LayerSpec unnamed);

  const std::string& name() const { return name_; }  // "" for the position
  const ModuleFactory& factory() const { return factory_; }

 private:
  template <class>
  static constexpr bool kNever = false;
  static ModuleFactory OfFunction(std::function<Tensor(const Tensor&)> function);

  std::string name_;
  ModuleFactory factory_;
};

template <class M>
requires(std::derived_from<M, Layer>&& HasOptions<M>) LayerSpec
    New(const typename M::Options& options = {}) {
  return LayerSpec(FactoryOf<M>(options));
}
// A layer without Options, made from copies of `args`.
template <class M, class... Args>
requires(std::derived_from<M, Layer> && !HasOptions<M>) LayerSpec New(const Args&... args) {
  return LayerSpec(FactoryFrom<M>(args...));
}

// Layers one after another. A layer without a name is named by its position.
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
  // The constructor for Sequential({New<Linear>(...), ...}) and Sequential({}).
  explicit Sequential(std::initializer_list<LayerSpec> layers);
  // For Sequential(Linear(...), Relu()) as in PyTorch: the error says what to write.
  template <class First, class Second, class... M>
  requires(std::derived_from<First, Module>)
      Sequential(const First& first, const Second& second, const M&... more)
      : Sequential({LayerSpec(first), LayerSpec(second), LayerSpec(more)...}) {}

  // The layers that a clone starts from.
  const Options& options() const { return options_; }
  // Adds a layer at the end. Throws when its name is taken or holds a dot, or its factory makes no
  // Layer; then nothing has changed.
  Layer& Append(const LayerSpec& layer);
  template <class M>
  M& Append(const typename M::Options& options = {}) {
    return static_cast<M&>(Append(New<M>(options)));
  }

  size_t size() const { return AskChildren(); }
  // Throws when there is no such layer.
  Layer& operator[](size_t i) const;

 protected:
  Tensor Forward(const Tensor& x) override;

 private:
  Options options_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_SEQUENTIAL_H_
