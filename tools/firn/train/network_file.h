#ifndef FIRN_TOOLS_FIRN_TRAIN_NETWORK_FILE_H_
#define FIRN_TOOLS_FIRN_TRAIN_NETWORK_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "firn/autograd/network/network.h"
#include "firn/tensor/shape.h"
#include "tools/firn/train/config.h"
#include "tools/firn/train/models.h"

namespace firn::cli {

// The model "file": the network in "path", an .onnx for one, trained on from the parameters that it
// has there (nn::GraphModule); "network" says which of several.
struct NetworkFile {
  std::string path, network;
};
NetworkFile ParseNetworkFile(const Config& config);

// For samples of one input and one target. The maker reads the file, and passes on its errors.
ModelMaker MakerOf(const NetworkFile& file);

// Reads it for samples whose inputs have these shapes, in the file's order, and for targets that
// want results of these shapes. Throws firn::Error if it does not take such inputs or batches of
// any size, or gives other results.
Network ReadNetworkFile(const NetworkFile& file, const std::vector<Shape>& inputs,
                        const std::vector<Shape>& outputs);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_NETWORK_FILE_H_
