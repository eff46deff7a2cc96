#ifndef FIRN_TOOLS_FIRN_NNP_TRAIN_H_
#define FIRN_TOOLS_FIRN_NNP_TRAIN_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/firn/command.h"
#include "tools/firn/nnp/feeder.h"

namespace firn::cli {

struct NnpTraining {
  std::string model;       // .nnp, .nntxt or .prototxt
  std::string parameters;  // where they come from, states of solvers included; "": initializers
  std::string output;      // a folder
  bool resume = false;     // goes on with the newest results_current_<epoch>.nnp there
  DataPlaces data;
  // What parameters that are drawn may take: a file of some lines may ask for any number.
  int64_t max_gib = 16;
};

// Does what `nnabla_cli train` of NNabla 1.39 does with the file, and writes what Results says.
// Tells of each epoch on terminal.err. Returns what came out. Throws firn::Error;
// FailedPrecondition when the cost is no number any more, as results_current_<epoch>.nnp are of
// before.
nlohmann::json TrainNnp(const NnpTraining& training, Terminal& terminal);

// The tensors of a file of parameters: an .nnp's, a .protobuf's, or what io::Load reads.
StateDict NnpParameters(const std::string& path);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_NNP_TRAIN_H_
