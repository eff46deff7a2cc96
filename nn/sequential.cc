// Sequential: children in order; functions become layers of their own, so that hooks, summaries and
// clones see them.

#include "firn/nn/sequential.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::nn {
namespace {

struct LambdaFunction {
  static constexpr const char* kName = "Lambda";
  using Options = std::function<Tensor(const Tensor&)>;
  static Tensor Call(const Tensor& x, const Options& function) { return function(x); }
};

}  // namespace

// The factory's result is checked here each time, so that a Sequential may use it as a Layer.
LayerSpec::LayerSpec(ModuleFactory factory) {
  if (!factory) RaiseStatus(InvalidArgument("the factory of a layer is empty"), "LayerSpec");
  factory_ = [make = std::move(factory)](const Module* original) {
    std::unique_ptr<Module> made = make(original);
    if (dynamic_cast<Layer*>(made.get()) == nullptr) {
      RaiseStatus(
          InvalidArgument("the factory of a layer made ",
                          made ? "a " + made->type_name() : "nothing", ", not an nn::Layer"),
          "LayerSpec");
    }
    return made;
  };
}

LayerSpec::LayerSpec(std::string name, LayerSpec unnamed)
    : name_(std::move(name)), factory_(std::move(unnamed.factory_)) {}

ModuleFactory LayerSpec::OfFunction(std::function<Tensor(const Tensor&)> function) {
  if (!function) RaiseStatus(InvalidArgument("the function of a layer is empty"), "LayerSpec");
  return FactoryOf<FunctionLayer<LambdaFunction>>(function);
}

Sequential::Sequential(const Options& layers) {
  for (const LayerSpec& layer : layers) Append(layer);
}

Sequential::Sequential(std::initializer_list<LayerSpec> layers) : Sequential(Options(layers)) {}

Layer& Sequential::Append(const LayerSpec& layer) {
  const std::string name = layer.name().empty() ? absl::StrCat(num_children()) : layer.name();
  Module& added = AddMade(name, layer.factory());
  options_.push_back(layer);
  return static_cast<Layer&>(added);
}

Layer& Sequential::operator[](size_t i) const {
  if (i >= num_children()) {
    RaiseStatus(OutOfRange(path(), " has no layer ", i, ", only ", num_children()), "Sequential");
  }
  return static_cast<Layer&>(child(i));
}

Tensor Sequential::Forward(const Tensor& x) {
  Tensor y = x;
  for (size_t i = 0; i < size(); ++i) y = (*this)[i](y);
  return y;
}

}  // namespace firn::nn
