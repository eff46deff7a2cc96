#ifndef FIRN_TESTS_NN_GOLDEN_LAYERS_H_
#define FIRN_TESTS_NN_GOLDEN_LAYERS_H_

// Makes the layers that tests/golden/layers has vectors of, and calls them. A file is named after
// the layer's class and its attributes after the options, so nothing here knows a layer.

#include <memory>
#include <string>
#include <vector>

#include "firn/nn/make_layer.h"
#include "tests/golden/vectors.h"

namespace firn::nn {

// "Conv2d" for the file "conv2d"; "" if no layer has that name.
std::string LayerOfFile(const std::string& file);

// The options that a case gives; `deferred`: without those that an input of the layer tells.
OptionValues OptionsOfCase(const std::string& layer, const testing::GoldenCase& c, bool deferred);

// The layer of a case, with parameters of its own.
std::unique_ptr<Module> MakeFrom(const std::string& layer, const testing::GoldenCase& c,
                                 bool deferred);

// Calls a layer that takes one to four tensors, of which the last may be left out.
Tensor CallLayer(Module& layer, const std::vector<Tensor>& in);

}  // namespace firn::nn

#endif  // FIRN_TESTS_NN_GOLDEN_LAYERS_H_
