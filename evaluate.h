#ifndef FIRN_EVALUATE_H_
#define FIRN_EVALUATE_H_

// How good a network is on data that it was not trained with.

#include <cstdint>
#include <functional>
#include <limits>

#include "firn/io/data/data_loader.h"
#include "firn/io/metrics/metric.h"
#include "firn/nn/layer.h"
#include "firn/tensor/tensor.h"

namespace firn {

// What a network's output and the loader's target for it have to say: a loss, 0-d, the mean over
// the samples, and a number that tells people how good it is (io::Metric takes one).
using LossFunction = std::function<Tensor(const Tensor& output, const Tensor& target)>;
using MetricFunction = std::function<double(const Tensor& output, const Tensor& target)>;

struct EvaluateOptions {
  // Empty: CrossEntropy, which an output of one number a sample has none of, nor have floating
  // targets that are no shares of classes: that is an error that names the losses which do.
  LossFunction loss = {};
  // A metric of io/metrics, or a function whose mean over the batches is taken. Empty: io::Accuracy
  // where `loss` is empty too, else none.
  io::Metric metric = {};
};

struct Evaluation {
  // The mean over the samples, and the metric of all of them; NaN for what there is not.
  double loss = std::numeric_limits<double>::quiet_NaN();
  double metric = std::numeric_limits<double>::quiet_NaN();
  int64_t samples = 0;
};

// Goes through the loader once, from its epoch 0, in eval mode and without recording gradients. The
// network is then in the mode that it was in, as its root says. Throws what the network, the loader
// and the functions throw.
Evaluation Evaluate(nn::Layer& net, io::DataLoader& data, const EvaluateOptions& options = {});

namespace inner::internal {
// CrossEntropy, where that means something. Throws as EvaluateOptions::loss says.
Tensor DefaultLoss(const Tensor& output, const Tensor& target);
// Throws where floating targets of that loss are no shares of classes: numbers to be learnt would
// be taken for them in silence. Reads them, of every batch: a later one may be of another kind.
void CheckShares(const Tensor& target);
}  // namespace inner::internal

}  // namespace firn

#endif  // FIRN_EVALUATE_H_
