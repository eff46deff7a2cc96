#ifndef FIRN_TOOLS_FIRN_TRAIN_TRAIN_CONFIG_H_
#define FIRN_TOOLS_FIRN_TRAIN_TRAIN_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/firn/train/config.h"
#include "tools/firn/train/data.h"
#include "tools/firn/train/models.h"
#include "tools/firn/train/network_file.h"
#include "tools/firn/train/optimizers.h"

namespace firn::cli {

// A training run as a configuration describes it; tools/firn/train/README.md lists the keys.
struct TrainConfig {
  DataSource data;
  std::optional<DataSource> validation;
  double validation_share = 0;  // of the data, where there is no `validation`
  int64_t epochs = 10;
  int64_t batch = 64;
  uint64_t seed = 0;
  int64_t checkpoint_every = 0;
  int threads = 0;
  std::string output;

  std::string graph;  // a saved training graph; the following members then have no meaning
  Model model;
  std::optional<NetworkFile> file;  // the model makes a network of it
  OptimizerMaker optimizer;
  RateChanges rates;
  double clip_grad_norm = 0;  // 0: none
  int64_t accumulate = 1;     // batches a step
  double ema = 0;     // the decay of an average of weights, which becomes the result; 0: none
  bool bf16 = false;  // the network computes in an AutocastScope
  std::string loss;   // "" for what suits the data
  // For data with several inputs or targets, one for each target; "" as above.
  std::vector<std::string> losses;
  std::vector<double> loss_weights;
  int64_t patience = 0;
  bool frozen = false;
  bool keep_best = false;
  std::string device;
};

// Reads all of it; only the configuration is looked at. Throws firn::Error for everything that does
// not make sense, including unknown keys.
TrainConfig ParseTrainConfig(const Config& config);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_TRAIN_CONFIG_H_
