#ifndef FIRN_NN_LOSS_H_
#define FIRN_NN_LOSS_H_

// Losses as layers, called with (input, target). Formulas and shapes are those of the operations.

#include <cstdint>
#include <string>

#include "nn/function_layer.h"
#include "tensor/ops/binary_cross_entropy.h"
#include "tensor/ops/binary_cross_entropy_with_logits.h"
#include "tensor/ops/cross_entropy.h"
#include "tensor/ops/huber_loss.h"
#include "tensor/ops/kl_div.h"
#include "tensor/ops/l1_loss.h"
#include "tensor/ops/mse_loss.h"
#include "tensor/ops/nll_loss.h"
#include "tensor/ops/smooth_l1_loss.h"

namespace firn::nn {

// "none", "mean", "sum" or "batch_mean".
const char* Name(Reduction reduction);

struct CrossEntropyLossOptions {
  Tensor weight = {};  // [classes]; undefined: 1 each
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::kMean;
  double label_smoothing = 0;
};

// Of logits [n, classes, ...] and class indices [n, ...] or probabilities.
// Buffer: weight, when there is one.
class CrossEntropyLoss final : public LayerOf<Tensor, Tensor> {
 public:
  using Options = CrossEntropyLossOptions;
  explicit CrossEntropyLoss(const Options& options = {});
  const Options& options() const { return options_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& logits, const Tensor& target) override;

 private:
  Options options_;
  Tensor& weight_;
};

struct NllLossOptions {
  Tensor weight = {};  // [classes]; undefined: 1 each
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::kMean;
};

// Of log probabilities (LogSoftmax) [n, classes, ...] and class indices [n, ...].
// Buffer: weight, when there is one.
class NllLoss final : public LayerOf<Tensor, Tensor> {
 public:
  using Options = NllLossOptions;
  explicit NllLoss(const Options& options = {});
  const Options& options() const { return options_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& log_probs, const Tensor& target) override;

 private:
  Options options_;
  Tensor& weight_;
};

struct BceLossOptions {
  Tensor weight = {};  // broadcasts to the input's shape; undefined: 1
  Reduction reduction = Reduction::kMean;
};

// Binary cross entropy of probabilities and targets of one shape.
// Buffer: weight, when there is one.
class BceLoss final : public LayerOf<Tensor, Tensor> {
 public:
  using Options = BceLossOptions;
  explicit BceLoss(const Options& options = {});
  const Options& options() const { return options_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& p, const Tensor& target) override;

 private:
  Options options_;
  Tensor& weight_;
};

struct BceWithLogitsLossOptions {
  Tensor weight = {};      // broadcasts to the input's shape; undefined: 1
  Tensor pos_weight = {};  // of the part of positive targets; undefined: 1
  Reduction reduction = Reduction::kMean;
};

// Binary cross entropy of logits and targets of one shape.
// Buffers: weight and pos_weight, when there are any.
class BceWithLogitsLoss final : public LayerOf<Tensor, Tensor> {
 public:
  using Options = BceWithLogitsLossOptions;
  explicit BceWithLogitsLoss(const Options& options = {});
  const Options& options() const { return options_; }
  std::string Describe() const override;

 protected:
  Tensor Forward(const Tensor& logits, const Tensor& target) override;

 private:
  Options options_;
  Tensor &weight_, &pos_weight_;
};

// Adds the reduction where it is not the mean.
inline void DescribeReduction(Reduction reduction, Describer& d) {
  if (reduction != Reduction::kMean) d.Field("reduction", std::string(Name(reduction)));
}

struct MseLossFunction {
  static constexpr const char* kName = "MseLoss";
  struct Options {
    Reduction reduction = Reduction::kMean;
  };
  static Tensor Call(const Tensor& x, const Tensor& target, const Options& o) {
    return firn::MseLoss(x, target, o.reduction);
  }
  static void Describe(const Options& o, Describer& d) { DescribeReduction(o.reduction, d); }
};
using MseLoss = FunctionLayerOf<MseLossFunction, Tensor, Tensor>;

struct L1LossFunction {
  static constexpr const char* kName = "L1Loss";
  using Options = MseLossFunction::Options;
  static Tensor Call(const Tensor& x, const Tensor& target, const Options& o) {
    return firn::L1Loss(x, target, o.reduction);
  }
  static void Describe(const Options& o, Describer& d) { DescribeReduction(o.reduction, d); }
};
using L1Loss = FunctionLayerOf<L1LossFunction, Tensor, Tensor>;

struct SmoothL1LossFunction {
  static constexpr const char* kName = "SmoothL1Loss";
  struct Options {
    Reduction reduction = Reduction::kMean;
    double beta = 1;
  };
  static Tensor Call(const Tensor& x, const Tensor& target, const Options& o) {
    return firn::SmoothL1Loss(x, target, o.beta, o.reduction);
  }
  static void Describe(const Options& o, Describer& d) {
    DescribeReduction(o.reduction, d);
    d.Field("beta", o.beta, 1.0);
  }
};
using SmoothL1Loss = FunctionLayerOf<SmoothL1LossFunction, Tensor, Tensor>;

struct HuberLossFunction {
  static constexpr const char* kName = "HuberLoss";
  struct Options {
    Reduction reduction = Reduction::kMean;
    double delta = 1;
  };
  static Tensor Call(const Tensor& x, const Tensor& target, const Options& o) {
    return firn::HuberLoss(x, target, o.delta, o.reduction);
  }
  static void Describe(const Options& o, Describer& d) {
    DescribeReduction(o.reduction, d);
    d.Field("delta", o.delta, 1.0);
  }
};
using HuberLoss = FunctionLayerOf<HuberLossFunction, Tensor, Tensor>;

// Called with log probabilities and the target distribution.
struct KlDivLossFunction {
  static constexpr const char* kName = "KlDivLoss";
  using Options = KlDivAttrs;
  static Tensor Call(const Tensor& log_q, const Tensor& p, const Options& o) {
    return firn::KlDiv(log_q, p, o.reduction, o.log_target);
  }
  static void Describe(const Options& o, Describer& d) {
    DescribeReduction(o.reduction, d);
    d.Field("log_target", o.log_target, false);
  }
};
using KlDivLoss = FunctionLayerOf<KlDivLossFunction, Tensor, Tensor>;

}  // namespace firn::nn

#endif  // FIRN_NN_LOSS_H_
