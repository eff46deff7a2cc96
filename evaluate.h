#ifndef FIRN_EVALUATE_H_
#define FIRN_EVALUATE_H_

// Measures how good a network is on data that it was not trained with.

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "firn/io/data/data_loader.h"
#include "firn/io/data/sample.h"
#include "firn/io/metrics/metric.h"
#include "firn/nn/module.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Functions of a network's output and the loader's target: a loss, 0-d, the mean over the samples,
// and a number that tells people how good the output is (for io::Metric).
using LossFunction = std::function<Tensor(const Tensor& output, const Tensor& target)>;
using MetricFunction = std::function<double(const Tensor& output, const Tensor& target)>;

// The result of a network for a batch. A loss alone is one, too.
struct BatchResult {
  BatchResult(Tensor l, Tensor y = {}, Tensor t = {})  // NOLINT: implicit
      : loss(std::move(l)), output(std::move(y)), target(std::move(t)) {}
  Tensor loss;            // 0-d, the mean over the samples
  Tensor output, target;  // the metric's arguments; undefined: none
};

// A function from a whole batch, of any tensors, to its loss: for samples that are not an input and
// a target, and for networks that are not called with one tensor.
//
//   [&](const io::Sample& batch) -> BatchResult {
//     const Tensor scores = net.Forward(batch["tokens"], batch["tokens_length"]);
//     return {CrossEntropy(scores, batch["label"]), scores, batch["label"]};
//   }
//
// The batch has as many samples as its first tensor has rows.
using ForwardFunction = std::function<BatchResult(const io::Sample& batch)>;

struct EvaluateOptions {
  // Empty: CrossEntropy. That is an error for outputs of one number a sample, and for floating
  // targets that are no shares of classes; the message names losses for them.
  LossFunction loss = {};
  // A metric of io/metrics, or a function whose mean over the batches is taken. Empty: io::Accuracy
  // if the other functions are empty too, else no metric.
  io::Metric metric = {};
  // The result for a batch; replaces the loss of the network's output for the first of two tensors.
  ForwardFunction forward = {};
  // For several processes that each go through a part of the samples
  // (io::DataLoaderOptions::shard): all call Evaluate, and get the result over all samples.
  // Exceptions on one rank alone are treated as in FitOptions::ranks. Must live as long as the
  // call. If it is null, this rank works alone.
  comm::Communicator* ranks = nullptr;
};

struct Evaluation {
  // The mean loss over the samples, and the metric of all of them; NaN if there is none.
  double loss = std::numeric_limits<double>::quiet_NaN();
  double metric = std::numeric_limits<double>::quiet_NaN();
  int64_t samples = 0;
};

// Goes through the loader once, from its epoch 0, in eval mode and without recording gradients.
// Afterwards each module of the network is in the mode that it had before. Throws InvalidArgument
// for a loss beside `forward`; without that, for a network that is no nn::Layer and for batches of
// other than two tensors, which it names; for a metric if `forward` gives no output for it; and
// what the network, the loader and the functions throw.
Evaluation Evaluate(nn::Module& net, io::DataLoader& data, const EvaluateOptions& options = {});

namespace inner::internal {
// `forward`, or the function used if it is empty. Throws as Evaluate, naming `who`. The network
// must outlive it.
ForwardFunction CheckedForward(nn::Module& net, const ForwardFunction& forward,
                               const LossFunction& loss, const char* who);
// Checks a batch for which there is no ForwardFunction: throws unless it is an input and a target
// and, if `loss` is empty, CrossEntropy is meaningful for them. Not for captured steps, since it
// reads elements.
void CheckPair(const io::Sample& batch, const LossFunction& loss);
// CrossEntropy, if that is meaningful. Throws as EvaluateOptions::loss says.
Tensor DefaultLoss(const Tensor& output, const Tensor& target);
// Throws if floating targets of that loss are no shares of classes: regression targets would
// silently be taken for shares. It reads the targets of every batch, since a later one may be of
// another kind.
void CheckShares(const Tensor& target);
}  // namespace inner::internal

}  // namespace firn

#endif  // FIRN_EVALUATE_H_
