#ifndef FIRN_NN_FUNCTION_LAYER_H_
#define FIRN_NN_FUNCTION_LAYER_H_

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "firn/nn/layer.h"

namespace firn::nn {

// The options of a layer without options.
struct NoOptions {};

// A layer without parameters: a function of tensors and options, described by a struct. If the
// function takes the same arguments as the layer, LayerOfFunction below makes it without a struct.
//
//   struct DropoutFunction {
//     static constexpr const char* kName = "Dropout";
//     using Options = DropoutOptions;
//     static Tensor Call(const Tensor& x, const Options& o, bool training) {
//       return firn::Dropout(x, o.p, training);
//     }
//   };
//   using Dropout = FunctionLayer<DropoutFunction>;
//
// Options may be left out when there are none. Where the result depends on the mode, Call takes the
// last argument `bool training`. A loss is a FunctionLayerOf<Function, Tensor, Tensor>, called with
// (input, target). Options show themselves (nn/options.h); tensors among them become buffers.
// Options that may be wrong for any input have `void Check(const char* where) const`, which throws
// when the layer is made: "nn::Dropout: p is 2 (want 0 to 1)". If the check depends on the function
// as well, that has `static void Check(const Options& options, const char* where)` instead.
template <class Function, class... In>
class FunctionLayerOf;

namespace internal {

template <class Function>
constexpr auto OptionsOfFunction() {
  if constexpr (requires { typename Function::Options; }) {
    return std::type_identity<typename Function::Options>();
  } else {
    return std::type_identity<NoOptions>();
  }
}

// The base of layers with such options: the tensors among them are buffers.
template <class O, class... In>
class FunctionLayerBase : public LayerWithOptions<O, LayerOf<In...>> {
 protected:
  // Options of numbers alone can be copied as bytes.
  static constexpr bool kMayHoldTensors = HasVisit<O> && !std::is_trivially_copyable_v<O>;

  explicit FunctionLayerBase(const O& options) : LayerWithOptions<O, LayerOf<In...>>(options) {
    if constexpr (kMayHoldTensors) {
      O initial = options;
      OptionTensors add([&](const char* name, Tensor& tensor) {
        buffers_.push_back(&this->AddBuffer(name, tensor));
      });
      initial.Visit(add);
    }
  }

  bool has_buffers() const { return !buffers_.empty(); }
  // Replaces the options' tensors by the buffers, which loading or moving may have changed.
  void AddKnown(O& options) const override {
    if constexpr (kMayHoldTensors) {
      auto buffer = buffers_.begin();
      OptionTensors put([&](const char*, Tensor& tensor) { tensor = **buffer++; });
      options.Visit(put);
    }
  }

 private:
  std::vector<const Tensor*> buffers_;  // of the tensors among the options, in their order
};

template <class Function, class... In>
using BaseOfFunction =
    FunctionLayerBase<typename decltype(OptionsOfFunction<Function>())::type, In...>;

}  // namespace internal

template <class Function, class... In>
class FunctionLayerOf final : public internal::BaseOfFunction<Function, In...> {
  using Base = internal::BaseOfFunction<Function, In...>;

 public:
  using Options = typename Base::Options;

  FunctionLayerOf() : FunctionLayerOf(Options()) {}
  explicit FunctionLayerOf(const Options& options) : Base(options) {
    const std::string where = std::string("nn::") + Function::kName;
    if constexpr (requires { Function::Check(options, ""); }) {
      Function::Check(options, where.c_str());
    } else if constexpr (requires { options.Check(""); }) {
      options.Check(where.c_str());
    }
  }

  std::string type_name() const override { return Function::kName; }

 protected:
  Tensor Forward(const In&... in) override {
    if constexpr (Base::kMayHoldTensors) {
      if (this->has_buffers()) {
        Options now = this->options();
        Base::AddKnown(now);
        return Call(now, in...);
      }
    }
    return Call(this->options(), in...);
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
};

template <class Function>
using FunctionLayer = FunctionLayerOf<Function, Tensor>;

// --- Layers of functions ------------------------------------------------------------------------

namespace internal {

// A text as a template argument.
template <size_t kSize>
struct LayerName {
  char text[kSize];
  consteval LayerName(const char (&name)[kSize]) {
    for (size_t i = 0; i < kSize; ++i) text[i] = name[i];
  }
};

// The parameter behind a function's tensors, if that is one struct of options.
template <class... P>
struct OptionsAmong {
  using Type = NoOptions;
};
template <class P, class... Rest>
struct OptionsAmong<P, Rest...> : OptionsAmong<Rest...> {};
template <class O>
requires HasVisit<O>
struct OptionsAmong<const O&> {
  using Type = O;
};

template <class... P>
consteval size_t LeadingTensors() {
  const bool tensors[] = {std::is_same_v<P, const Tensor&>..., false};
  size_t count = 0;
  while (tensors[count]) ++count;
  return count;
}

// The struct for FunctionLayerOf, from a function that takes In... and then O, or the fields of O
// one by one.
template <LayerName kLayer, auto kFunction, class O, class... In>
struct NamedFunction {
  static constexpr const char* kName = kLayer.text;
  using Options = O;
  static Tensor Call(const In&... in, const O& options) {
    if constexpr (requires { kFunction(in..., options); }) {
      return kFunction(in..., options);
    } else if constexpr (requires { kFunction(in...); } && std::is_empty_v<O>) {
      return kFunction(in...);
    } else {
      return CallWithFields(kFunction, options, in...);
    }
  }

 private:
  template <class... P>
  static Tensor CallWithFields(Tensor (*function)(P...), const O& options, const In&... in) {
    constexpr size_t kFields = sizeof...(P) - sizeof...(In);
    if constexpr (kFields == 1) {
      const auto& [a] = options;
      return function(in..., a);
    } else if constexpr (kFields == 2) {
      const auto& [a, b] = options;
      return function(in..., a, b);
    } else {
      const auto& [a, b, c] = options;
      return function(in..., a, b, c);
    }
  }
};

template <size_t>
using OneTensor = Tensor;

// The layer that takes a tensor for each index.
template <LayerName kLayer, auto kFunction, class O, class Indices>
struct NamedLayer;
template <LayerName kLayer, auto kFunction, class O, size_t... kIn>
struct NamedLayer<kLayer, kFunction, O, std::index_sequence<kIn...>> {
  using Type =
      FunctionLayerOf<NamedFunction<kLayer, kFunction, O, OneTensor<kIn>...>, OneTensor<kIn>...>;
};

template <LayerName kLayer, auto kFunction, class O, class... P>
auto LayerOfParameters(Tensor (*)(P...)) {
  using Options = std::conditional_t<std::is_void_v<O>, typename OptionsAmong<P...>::Type, O>;
  using Indices = std::make_index_sequence<LeadingTensors<P...>()>;
  return std::type_identity<typename NamedLayer<kLayer, kFunction, Options, Indices>::Type>();
}

}  // namespace internal

// A layer without parameters that is called with the tensors which the function takes first, and
// has its name:
//
//   using Relu = LayerOfFunction<"Relu", firn::Relu>;
//   using HuberLoss = LayerOfFunction<"HuberLoss", firn::HuberLoss>;  // (x, y, HuberLossOptions)
//   using LeakyRelu = LayerOfFunction<"LeakyRelu", firn::LeakyRelu, inner::LeakyReluAttrs>;
//
// The options are the struct that the function takes after its tensors. A function that takes
// numbers gets the fields of O, in their order.
template <internal::LayerName kName, auto kFunction, class O = void>
using LayerOfFunction =
    typename decltype(internal::LayerOfParameters<kName, kFunction, O>(kFunction))::type;

// The same under names that tell the kind of layer.
template <internal::LayerName kName, auto kFunction, class O = void>
using Activation = LayerOfFunction<kName, kFunction, O>;
template <internal::LayerName kName, auto kFunction, class O = void>
using Loss = LayerOfFunction<kName, kFunction, O>;

// A layer of a function with overloads: the one of a tensor and options, or another.
template <internal::LayerName kName, class O, Tensor (*kFunction)(const Tensor&, const O&)>
using LayerOfOverload = LayerOfFunction<kName, kFunction>;
template <internal::LayerName kName, class Form, Form* kFunction>
using LayerOfForm = LayerOfFunction<kName, kFunction>;

}  // namespace firn::nn

#endif  // FIRN_NN_FUNCTION_LAYER_H_
