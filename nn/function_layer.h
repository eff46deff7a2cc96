#ifndef FIRN_NN_FUNCTION_LAYER_H_
#define FIRN_NN_FUNCTION_LAYER_H_

#include <string>
#include <vector>

#include "firn/nn/describe.h"
#include "firn/nn/layer.h"

namespace firn::nn {

// A layer without parameters: a function of tensors and options, described by a struct.
//
//   struct LeakyReluFunction {
//     static constexpr const char* kName = "LeakyRelu";
//     struct Options { double alpha = 0.01; };
//     static Tensor Call(const Tensor& x, const Options& o) { return firn::LeakyRelu(x, o.alpha); }
//     static void Describe(const Options& o, Describer& d) { d.Field("alpha", o.alpha); }
//   };
//   using LeakyRelu = FunctionLayer<LeakyReluFunction>;
//
// Without Describe, options that have a Visit (an operation's attributes) print themselves. Options
// may be left out when there are none. Where the result depends on the
// mode, Call takes a last argument `bool training`. A loss is a FunctionLayerOf<Function, Tensor,
// Tensor>, called with (input, target). Tensors among the options become buffers where Function has
//   template <class F> static void Buffers(Options& o, F visit) { visit("weight", o.weight); }
template <class Function, class... In>
class FunctionLayerOf final : public LayerOf<In...> {
  struct NoOptions {};
  static constexpr auto kIgnore = [](const char*, Tensor&) {};
  template <class F>
  static auto OptionsOf() {
    if constexpr (requires { typename F::Options; }) {
      return typename F::Options{};
    } else {
      return NoOptions{};
    }
  }

 public:
  using Options = decltype(OptionsOf<Function>());
  static constexpr bool kHasBuffers = requires(Options & o) { Function::Buffers(o, kIgnore); };

  FunctionLayerOf() : FunctionLayerOf(Options()) {}
  explicit FunctionLayerOf(const Options& options) : options_(options) {
    if constexpr (kHasBuffers) {
      Function::Buffers(options_, [&](const char* name, Tensor& initial) {
        buffers_.push_back(&this->AddBuffer(name, initial));
      });
    }
  }

  const Options& options() const { return options_; }
  std::string type_name() const override { return Function::kName; }
  std::string Describe() const override {
    Describer d;
    if constexpr (kHasBuffers) {
      Options shown = options_;
      Function::Buffers(shown, [&](const char* name, const Tensor& t) {
        if (t.defined()) d.Field(name, t.shape());
      });
    }
    if constexpr (requires { Function::Describe(options_, d); }) {
      Function::Describe(options_, d);
    } else if constexpr (requires(Options o, inner::AttrVisitor & v) { o.Visit(v); }) {
      d.Differences(options_, Options{});
    }
    return d.text();
  }

 protected:
  Tensor Forward(const In&... in) override {
    if constexpr (kHasBuffers) {
      Options now = options_;  // with the buffers as they are after loading, moving or cloning
      auto buffer = buffers_.begin();
      Function::Buffers(now, [&](const char*, Tensor& t) { t = **buffer++; });
      return Call(now, in...);
    } else {
      return Call(options_, in...);
    }
  }

 private:
  Tensor Call(const Options& options, const In&... in) {
    if constexpr (requires { Function::Call(in..., options, true); }) {
      return Function::Call(in..., options, this->training());
    } else if constexpr (requires { Function::Call(in..., options); }) {
      return Function::Call(in..., options);
    } else {
      return Function::Call(in...);
    }
  }

  Options options_ = {};
  std::vector<const Tensor*> buffers_;  // in the order of Function::Buffers
};

template <class Function>
using FunctionLayer = FunctionLayerOf<Function, Tensor>;

}  // namespace firn::nn

#endif  // FIRN_NN_FUNCTION_LAYER_H_
