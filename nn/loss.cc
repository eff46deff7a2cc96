// Losses with class weights: the weights are a buffer, so that they are saved and moved with the
// network, as in PyTorch.

#include "nn/loss.h"

namespace firn::nn {

const char* Name(Reduction reduction) {
  constexpr const char* kNames[] = {"none", "mean", "sum", "batch_mean"};
  return kNames[static_cast<int>(reduction)];
}

namespace {

template <class Options>
Describer Common(const Options& o) {
  Describer d;
  if (o.weight.defined()) d.Field("weight", o.weight.shape());
  d.Field("ignore_index", o.ignore_index, int64_t{-100});
  DescribeReduction(o.reduction, d);
  return d;
}

}  // namespace

CrossEntropyLoss::CrossEntropyLoss(const Options& options)
    : options_(options), weight_(AddBuffer("weight", options.weight)) {}

Tensor CrossEntropyLoss::Forward(const Tensor& logits, const Tensor& target) {
  const Options& o = options_;
  return firn::CrossEntropy(logits, target, weight_, o.ignore_index, o.reduction,
                            o.label_smoothing);
}

std::string CrossEntropyLoss::Describe() const {
  return Common(options_).Field("label_smoothing", options_.label_smoothing, 0.0).text();
}

NllLoss::NllLoss(const Options& options)
    : options_(options), weight_(AddBuffer("weight", options.weight)) {}

Tensor NllLoss::Forward(const Tensor& log_probs, const Tensor& target) {
  const Options& o = options_;
  return firn::NllLoss(log_probs, target, weight_, o.ignore_index, o.reduction);
}

std::string NllLoss::Describe() const { return Common(options_).text(); }

BceLoss::BceLoss(const Options& options)
    : options_(options), weight_(AddBuffer("weight", options.weight)) {}

Tensor BceLoss::Forward(const Tensor& p, const Tensor& target) {
  return firn::BinaryCrossEntropy(p, target, weight_, options_.reduction);
}

std::string BceLoss::Describe() const {
  Describer d;
  if (options_.weight.defined()) d.Field("weight", options_.weight.shape());
  DescribeReduction(options_.reduction, d);
  return d.text();
}

BceWithLogitsLoss::BceWithLogitsLoss(const Options& options)
    : options_(options),
      weight_(AddBuffer("weight", options.weight)),
      pos_weight_(AddBuffer("pos_weight", options.pos_weight)) {}

Tensor BceWithLogitsLoss::Forward(const Tensor& logits, const Tensor& target) {
  return firn::BinaryCrossEntropyWithLogits(logits, target, weight_, pos_weight_,
                                            options_.reduction);
}

std::string BceWithLogitsLoss::Describe() const {
  Describer d;
  if (options_.weight.defined()) d.Field("weight", options_.weight.shape());
  if (options_.pos_weight.defined()) d.Field("pos_weight", options_.pos_weight.shape());
  DescribeReduction(options_.reduction, d);
  return d.text();
}

}  // namespace firn::nn
