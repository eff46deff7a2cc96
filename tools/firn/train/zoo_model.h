#ifndef FIRN_TOOLS_FIRN_TRAIN_ZOO_MODEL_H_
#define FIRN_TOOLS_FIRN_TRAIN_ZOO_MODEL_H_

// Networks of nn/zoo as models: those that classify single images, and families of zoo_families.h.

#include <string>
#include <vector>

#include "firn/nn/zoo/network.h"
#include "tools/firn/train/config.h"
#include "tools/firn/train/models.h"

namespace firn::cli {

// Those that firn train can train, but for mlp, which models.h makes itself.
std::vector<std::string> TrainedOfZoo();

// The network of this name; null if it is not trained.
const zoo::Network* FindTrained(const std::string& name);

// The model of a network that is trained. It starts from the file "weights" if there is one; a last
// layer for other classes starts anew. For those with a first layer for images of about 32x32
// pixels, "small_images" says whether they have it; without it, images with a side below 64 decide.
Model ParseZoo(const Config& config, const zoo::Network& network);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_ZOO_MODEL_H_
