#ifndef FIRN_NN_INTERNAL_LAYER_CLASSES_H_
#define FIRN_NN_INTERNAL_LAYER_CLASSES_H_

#include <typeinfo>
#include <vector>

#include "firn/nn/module.h"
#include "firn/nn/options.h"

namespace firn::nn {

struct LayerClass {
  const char* name;
  const std::type_info& type;
  // Shows the visitor the options of `layer`, or the defaults for null.
  void (*show)(const Module* layer, OptionVisitor& v);
  // A new layer, made from the defaults as the visitor has changed them.
  Module* (*make)(OptionVisitor& v);
};

// One for each layer that a header of nn/ declares, sorted by name.
const std::vector<LayerClass>& LayerClasses();

}  // namespace firn::nn

#endif  // FIRN_NN_INTERNAL_LAYER_CLASSES_H_
