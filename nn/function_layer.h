#ifndef FIRN_NN_FUNCTION_LAYER_H_
#define FIRN_NN_FUNCTION_LAYER_H_

#include <string>

#include "nn/describe.h"
#include "nn/layer.h"

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
// Tensor>, called with (input, target).
template <class Function, class... In>
class FunctionLayerOf final : public LayerOf<In...> {
  struct NoOptions {};
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

  FunctionLayerOf() = default;
  explicit FunctionLayerOf(const Options& options) : options_(options) {}

  const Options& options() const { return options_; }
  std::string type_name() const override { return Function::kName; }
  std::string Describe() const override {
    Describer d;
    if constexpr (requires { Function::Describe(options_, d); }) {
      Function::Describe(options_, d);
    } else if constexpr (requires(Options o, AttrVisitor & v) { o.Visit(v); }) {
      d.Differences(options_, Options{});
    }
    return d.text();
  }

 protected:
  Tensor Forward(const In&... in) override {
    if constexpr (requires { Function::Call(in..., options_, true); }) {
      return Function::Call(in..., options_, this->training());
    } else if constexpr (requires { Function::Call(in..., options_); }) {
      return Function::Call(in..., options_);
    } else {
      return Function::Call(in...);
    }
  }

 private:
  Options options_ = {};
};

template <class Function>
using FunctionLayer = FunctionLayerOf<Function, Tensor>;

}  // namespace firn::nn

#endif  // FIRN_NN_FUNCTION_LAYER_H_
