#ifndef FIRN_TOOLS_FIRN_TRAIN_MODELS_H_
#define FIRN_TOOLS_FIRN_TRAIN_MODELS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "firn/nn/layer.h"
#include "firn/tensor/shape.h"
#include "tools/firn/train/config.h"

namespace firn::zoo {
struct Network;
}  // namespace firn::zoo

namespace firn::cli {

// Makes a network for samples of this shape that gives `result` for each: [numbers], scores
// [classes], or scores of classes in each of several places, [classes, ...]. Throws firn::Error if
// it takes no such samples.
using ModelMaker =
    std::function<std::unique_ptr<nn::Layer>(const Shape& sample, const Shape& result)>;

struct Model {
  ModelMaker make = {};
  // The network takes i64 ids below this number, and scores as many classes; 0: it takes numbers.
  int64_t ids = 0;
  bool scores_last = false;  // it gives [..., classes] for places, in place of [classes, ...]
};

// What makes the network that `config` describes:
//   mlp       linear layers of the sizes "hidden" ([64]) with relu between them, on any samples
//   layers    those of the list "layers", each an object with the name of its class, "layer", and
//             its options: {"layer": "Conv2d", "out": 16, "kernel": [3, 5], "padding": "same"}
//   file      the network in the file "path", such as an .onnx (network_file.h)
// or a network of the zoo (zoo_model.h).
Model ParseModel(const Config& config);

// The network of the zoo that `config` names; null if it describes another model.
const zoo::Network* NetworkOfZoo(const Config& config);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_MODELS_H_
