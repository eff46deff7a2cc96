#ifndef FIRN_TOOLS_FIRN_TRAIN_NETWORK_FILE_H_
#define FIRN_TOOLS_FIRN_TRAIN_NETWORK_FILE_H_

#include "tools/firn/train/models.h"

namespace firn::cli {

// The model "file": the network in "path", an .onnx for one, trained on from the parameters that it
// has there (nn::GraphModule); "network" says which of several. The maker reads it, and throws what
// that throws.
ModelMaker ParseNetworkFile(const Config& config);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_NETWORK_FILE_H_
