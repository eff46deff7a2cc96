#ifndef FIRN_TOOLS_FIRN_NNP_TRAIN_H_
#define FIRN_TOOLS_FIRN_NNP_TRAIN_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/firn/command.h"
#include "tools/firn/nnp/feeder.h"
#include "tools/firn/train/ranks.h"

namespace firn::cli {

struct NnpTraining {
  std::string model;       // .nnp, .nntxt or .prototxt
  std::string parameters;  // their file, which may have states of solvers; "": initializers
  std::string output;      // a folder
  bool resume = false;     // goes on with the newest results_current_<epoch>.nnp there
  DataPlaces data;
  // The limit on parameters that are drawn: a short file may ask for any number.
  int64_t max_gib = 16;
};

// Trains the file as `nnabla_cli train` of NNabla 1.39 does, and writes the files of Results.
// Reports each epoch on terminal.err. Returns the results. Throws firn::Error; FailedPrecondition
// if the cost becomes NaN or infinite; results_current_<epoch>.nnp are from before that.
//
// All ranks call it, and do what `nnabla_cli train` does with as many processes: each makes 1/n of
// an epoch's iterations, with batches of its own that have the file's size; a step is that of the
// mean of all ranks' gradients, costs and errors are means, and the first rank alone tells and
// writes. What a file counts in iterations is shared by the ranks as well (schedules, start_iter
// and end_iter, not update_interval). Statistics of batch norms are each rank's own; the network is
// evaluated and saved with those of the first. All must see the same files and folder: a difference
// is an error on all. Optimizers that move the same parameter are Unimplemented.
nlohmann::json TrainNnp(const NnpTraining& training, Terminal& terminal, const Ranks& ranks);

// The tensors of a file of parameters: an .nnp's, a .protobuf's, or what io::Load reads.
StateDict NnpParameters(const std::string& path);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_NNP_TRAIN_H_
