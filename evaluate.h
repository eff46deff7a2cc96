#ifndef FIRN_EVALUATE_H_
#define FIRN_EVALUATE_H_

// How good a network is on data that it was not trained with.

#include <cstdint>
#include <functional>
#include <limits>

#include "firn/io/data_loader.h"
#include "firn/nn/layer.h"
#include "firn/tensor/tensor.h"

namespace firn {

// What a network's output and the loader's target for it have to say: a loss, 0-d, the mean over
// the samples, and a number that tells people how good it is.
using LossFunction = std::function<Tensor(const Tensor& output, const Tensor& target)>;
using MetricFunction = std::function<double(const Tensor& output, const Tensor& target)>;

struct EvaluateOptions {
  LossFunction loss = {};      // empty: CrossEntropy
  MetricFunction metric = {};  // empty: io::Accuracy where `loss` is empty too, else none
};

struct Evaluation {
  // Means over the samples; NaN for what there is not.
  double loss = std::numeric_limits<double>::quiet_NaN();
  double metric = std::numeric_limits<double>::quiet_NaN();
  int64_t samples = 0;
};

// Goes through the loader once, from its epoch 0, in eval mode and without recording gradients. The
// network is then in the mode that it was in, as its root says. Throws what the network, the loader
// and the functions throw.
Evaluation Evaluate(nn::Layer& net, io::DataLoader& data, const EvaluateOptions& options = {});

}  // namespace firn

#endif  // FIRN_EVALUATE_H_
