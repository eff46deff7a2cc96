#ifndef FIRN_NN_MAKE_LAYER_H_
#define FIRN_NN_MAKE_LAYER_H_

// Layers by name, for programs that read a network from a file or a command line. Every layer that
// a header of nn/ declares is known here; no list needs an edit.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/nn/describe.h"
#include "firn/nn/module.h"
#include "firn/tensor/state_dict.h"

namespace firn::nn {

// Names of options and their values as descriptions have them: {{"out", "32"}, {"kernel", "[3,
// 5]"},
// {"bias", "false"}, {"padding_mode", "reflect"}}.
using OptionValues = std::vector<std::pair<std::string, std::string>>;

// A layer of that class, "Conv2d". Options that are not given have their defaults; options that are
// tensors, such as a loss's weight, are looked up by name in `tensors`. Throws firn::Error for a
// layer or an option that does not exist, for a value that does not fit, and what the layer's
// constructor throws.
std::unique_ptr<Module> MakeLayer(const std::string& name, const OptionValues& options = {},
                                  const StateDict& tensors = {});

// The classes that MakeLayer knows, sorted.
std::vector<std::string> LayerNames();

// The options of such a class with their defaults, in the order in which a description tells them.
// Throws for a layer that does not exist.
std::vector<OptionText> LayerOptions(const std::string& name);

// The options that a layer was made with. Throws if MakeLayer does not know its class.
std::vector<OptionText> OptionsOf(const Module& layer);

}  // namespace firn::nn

#endif  // FIRN_NN_MAKE_LAYER_H_
