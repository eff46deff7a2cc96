#ifndef FIRN_TOOLS_FIRN_TRAIN_LEARNER_H_
#define FIRN_TOOLS_FIRN_TRAIN_LEARNER_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "firn/evaluate.h"
#include "firn/io/metrics/metric.h"
#include "firn/nn/module.h"
#include "firn/tensor/tensor.h"
#include "tools/firn/train/train_config.h"

namespace firn::cli {

// A network, and functions that apply it to a batch of the data. Functions refer to the network.
struct Learner {
  std::unique_ptr<nn::Module> net;
  std::vector<Tensor> sample;  // the inputs of one, [1, ...] each, as the data have them
  // The network's results for inputs as the data have them.
  std::function<TensorList(absl::Span<const Tensor> inputs)> run;
  // For Fit and Evaluate: for an input and a target the loss (empty: cross entropy), for several
  // the whole step. The metric is then the accuracy of the first target, if it is a class.
  LossFunction loss = {};
  ForwardFunction forward = {};
  io::Metric metric = {};
};

// Makes it for these data, which must not be empty, with random numbers of the default generator.
// Throws firn::Error if data, network and losses do not fit each other.
Learner MakeLearner(const TrainConfig& config, const TrainingData& data);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_LEARNER_H_
