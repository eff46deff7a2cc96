// Sequential: children in order; functions become layers of their own, so that hooks, summaries and
// clones see them.

#include "nn/sequential.h"

#include "absl/strings/str_cat.h"

namespace firn::nn {
namespace {

struct LambdaFunction {
  static constexpr const char* kName = "Lambda";
  using Options = std::function<Tensor(const Tensor&)>;
  static Tensor Call(const Tensor& x, const Options& function) { return function(x); }
};

}  // namespace

ModuleFactory LayerSpec::OfFunction(std::function<Tensor(const Tensor&)> function) {
  return FactoryOf<FunctionLayer<LambdaFunction>>(function);
}

Sequential::Sequential(const Options& layers) {
  for (const LayerSpec& layer : layers) Append(layer);
}

Layer& Sequential::Append(const LayerSpec& layer) {
  const std::string name = layer.name().empty() ? absl::StrCat(num_children()) : layer.name();
  Module& added = AddMade(name, layer.factory());
  options_.push_back(layer);
  return static_cast<Layer&>(added);
}

Tensor Sequential::Forward(const Tensor& x) {
  Tensor y = x;
  for (size_t i = 0; i < num_children(); ++i) y = (*this)[i](y);
  return y;
}

}  // namespace firn::nn
