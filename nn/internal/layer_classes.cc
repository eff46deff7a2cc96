// A row for each layer that a header of nn/ declares (tools/scripts/generate_source finds them):
// functions that make its options, let a visitor see them and make it.

#include "firn/nn/internal/layer_classes.h"

#include <type_traits>

#include "firn/nn/layers.h"

namespace firn::nn {
namespace {

// Code that depends only on the options is compiled once for each struct of options, of which there
// are fewer than layers. A row has pointers, not std::unique_ptr<L>, each of which instantiates a
// dozen templates more. Together this halved the time to compile this file.
template <class O>
void ShowCopy(const O* given, OptionVisitor& v) {
  O options = given == nullptr ? O() : *given;
  internal::ShowOptions<O>(&options, v);
}
template <class O>
Module* MakeFromShown(OptionVisitor& v, Module* (*make)(const O&)) {
  O options = {};
  internal::ShowOptions<O>(&options, v);
  return make(options);
}

template <class L>
LayerClass ClassOf(const char* name) {
  static_assert(std::is_base_of_v<Module, L> && HasOptions<L>,
                "what headers of nn/ declare at the start of a line as a final class or as another "
                "name of a template is a module with options");
  using O = typename L::Options;
  return {name, typeid(L),
          [](const Module* layer, OptionVisitor& v) {
            ShowCopy<O>(layer == nullptr ? nullptr : &static_cast<const L*>(layer)->options(), v);
          },
          [](OptionVisitor& v) {
            return MakeFromShown<O>(v, [](const O& o) -> Module* { return new L(o); });
          }};
}

}  // namespace

const std::vector<LayerClass>& LayerClasses() {
  static const auto* classes = new std::vector<LayerClass>{
#define FIRN_LAYER(L) ClassOf<L>(#L),
#include "firn/nn/layer_types.inc"
#undef FIRN_LAYER
  };
  return *classes;
}

}  // namespace firn::nn
