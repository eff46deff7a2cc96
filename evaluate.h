#ifndef FIRN_EVALUATE_H_
#define FIRN_EVALUATE_H_

// How good a network is on data that it was not trained with.

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

// What a network's output and the loader's target for it have to say: a loss, 0-d, the mean over
// the samples, and a number that tells people how good it is (io::Metric takes one).
using LossFunction = std::function<Tensor(const Tensor& output, const Tensor& target)>;
using MetricFunction = std::function<double(const Tensor& output, const Tensor& target)>;

// What a network makes of a batch. A loss alone is one, too.
struct BatchResult {
  BatchResult(Tensor l, Tensor y = {}, Tensor t = {})  // NOLINT: implicit
      : loss(std::move(l)), output(std::move(y)), target(std::move(t)) {}
  Tensor loss;            // 0-d, the mean over the samples
  Tensor output, target;  // what a metric is asked of; undefined: nothing
};

// From a whole batch, of whatever tensors, to its loss: for samples that are not an input and a
// target, and for networks that are not called with one tensor.
//
//   [&](const io::Sample& batch) -> BatchResult {
//     const Tensor scores = net.Forward(batch["tokens"], batch["tokens_length"]);
//     return {CrossEntropy(scores, batch["label"]), scores, batch["label"]};
//   }
//
// The batch has as many samples as its first tensor has rows.
using ForwardFunction = std::function<BatchResult(const io::Sample& batch)>;

struct EvaluateOptions {
  // Empty: CrossEntropy, which an output of one number a sample has none of, nor have floating
  // targets that are no shares of classes: that is an error that names the losses which do.
  LossFunction loss = {};
  // A metric of io/metrics, or a function whose mean over the batches is taken. Empty: io::Accuracy
  // where the others are empty too, else none.
  io::Metric metric = {};
  // In place of a loss of the network's output for the first tensor of two: what becomes of a
  // batch.
  ForwardFunction forward = {};
  // Several processes that each go through a part of the samples (io::DataLoaderOptions::shard):
  // all call Evaluate, and get what is said of all samples. What throws on one alone is as in
  // FitOptions::ranks. Lives as long as the call. If null, this rank alone.
  comm::Communicator* ranks = nullptr;
};

struct Evaluation {
  // The mean over the samples, and the metric of all of them; NaN for what there is not.
  double loss = std::numeric_limits<double>::quiet_NaN();
  double metric = std::numeric_limits<double>::quiet_NaN();
  int64_t samples = 0;
};

// Goes through the loader once, from its epoch 0, in eval mode and without recording gradients. The
// network is then in the mode that it was in, as its root says. Throws InvalidArgument for a loss
// beside `forward`; without that, for a network that is no nn::Layer and for batches, whose tensors
// it names, of other than two; for a metric that `forward` has no output for; and what the network,
// the loader and the functions throw.
Evaluation Evaluate(nn::Module& net, io::DataLoader& data, const EvaluateOptions& options = {});

namespace inner::internal {
// `forward`, or what stands for it where it is empty. Throws as Evaluate, naming `who`. The network
// outlives it.
ForwardFunction CheckedForward(nn::Module& net, const ForwardFunction& forward,
                               const LossFunction& loss, const char* who);
// Throws unless a batch for which there is no ForwardFunction is an input and a target, of which
// CrossEntropy means something where `loss` is empty. Not for captured steps: it reads elements.
void CheckPair(const io::Sample& batch, const LossFunction& loss);
// CrossEntropy, where that means something. Throws as EvaluateOptions::loss says.
Tensor DefaultLoss(const Tensor& output, const Tensor& target);
// Throws where floating targets of that loss are no shares of classes: numbers to be learnt would
// be taken for them in silence. Reads them, of every batch: a later one may be of another kind.
void CheckShares(const Tensor& target);
}  // namespace inner::internal

}  // namespace firn

#endif  // FIRN_EVALUATE_H_
