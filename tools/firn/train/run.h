#ifndef FIRN_TOOLS_FIRN_TRAIN_RUN_H_
#define FIRN_TOOLS_FIRN_TRAIN_RUN_H_

#include <nlohmann/json.hpp>

#include "firn/fit.h"
#include "tools/firn/command.h"
#include "tools/firn/train/ranks.h"
#include "tools/firn/train/train_config.h"

namespace firn::cli {

// The progress of a run: bars and lines for people or, with --json, a line of JSON for each epoch,
// on terminal.err.
struct Telling {
  Terminal& terminal;
  bool quiet = false;

  void operator()(const FitEpoch& epoch) const;
  io::ProgressOptions Progress() const;
};

// Trains the network of a configuration, or goes on with it, and writes "parameters.h5" and
// "model.firn", the network for one sample, into its output beside what Fit writes there. Returns
// the results. All ranks call it; rank 0 writes.
nlohmann::json TrainNetwork(const TrainConfig& config, const Telling& telling, Ranks& ranks);

// The same for a saved graph of a whole step: its inputs are a batch and its targets, its result is
// the loss. Writes the graph with its states as "graph.firn". For one process.
nlohmann::json TrainGraph(const TrainConfig& config, const Telling& telling);

// An epoch as JSON, with null for NaN.
nlohmann::json JsonOf(const FitEpoch& epoch);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_RUN_H_
