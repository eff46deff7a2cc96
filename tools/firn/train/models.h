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

// Makes a network for samples of this shape that gives this many numbers for each. Throws
// firn::Error if it takes no such samples.
using ModelMaker = std::function<std::unique_ptr<nn::Layer>(const Shape& sample, int64_t outputs)>;

// What makes the network that `config` describes:
//   mlp       linear layers of the sizes "hidden" ([64]) with relu between them, on any samples
//   layers    those of the list "layers", each an object with the name of its class, "layer", and
//             its options: {"layer": "Conv2d", "out": 16, "kernel": [3, 5], "padding": "same"}
//   file      the network in the file "path", such as an .onnx (network_file.h)
// or a network of the zoo (firn/nn/zoo/zoo.h) that gives scores for an image, such as:
//   lenet         two blocks of 5x5 convolution, batch norm, relu and max pooling, two linear
//   layers small_resnet  a 3x3 convolution, three residual units of 16, 32 and 64 channels, a
//   linear layer resnet18      ResNet-18 (He et al., 2015), with "small_images": true with a first
//   layer for images
//                 of about 32x32 pixels, which it takes for sides below 64 where nothing is said
// which starts from the file "weights" where there is one; a last layer for other classes starts
// anew.
ModelMaker ParseModel(const Config& config);

// The network of the zoo that `config` names; null if it describes another model.
const zoo::Network* NetworkOfZoo(const Config& config);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_MODELS_H_
