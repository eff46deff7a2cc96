#ifndef FIRN_NN_LOSS_H_
#define FIRN_NN_LOSS_H_

// Losses as layers, called with (input, target). Formulas, shapes and options are those of the
// operations.
// Weights are buffers, as in PyTorch: saved, moved and cloned with the network.

#include <cstdint>

#include "firn/nn/function_layer.h"
#include "firn/tensor/ops/loss/binary.h"
#include "firn/tensor/ops/loss/cross_entropy.h"
#include "firn/tensor/ops/loss/nll_loss.h"
#include "firn/tensor/ops/loss/regression.h"

namespace firn::nn {

// Adds the reduction where it is not the mean.
inline void DescribeReduction(Reduction reduction, Describer& d) {
  d.Field("reduction", reduction, Reduction::kMean);
}

// Of logits [n, classes, ...] and class indices [n, ...] or probabilities.
struct CrossEntropyLossFunction {
  static constexpr const char* kName = "CrossEntropyLoss";
  using Options = CrossEntropyOptions;
  template <class F>
  static void Buffers(Options& o, F visit) {
    visit("weight", o.weight);
  }
  static Tensor Call(const Tensor& logits, const Tensor& target, const Options& o) {
    return firn::CrossEntropy(logits, target, o);
  }
  static void Describe(const Options& o, Describer& d) {
    d.Field("ignore_index", o.ignore_index, int64_t{-100});
    DescribeReduction(o.reduction, d);
    d.Field("label_smoothing", o.label_smoothing, 0.0);
  }
};
using CrossEntropyLoss = FunctionLayerOf<CrossEntropyLossFunction, Tensor, Tensor>;

// Of log probabilities (LogSoftmax) [n, classes, ...] and class indices [n, ...].
struct NllLossFunction {
  static constexpr const char* kName = "NllLoss";
  using Options = NllLossOptions;
  template <class F>
  static void Buffers(Options& o, F visit) {
    visit("weight", o.weight);
  }
  static Tensor Call(const Tensor& log_probs, const Tensor& target, const Options& o) {
    return firn::NllLoss(log_probs, target, o);
  }
  static void Describe(const Options& o, Describer& d) {
    d.Field("ignore_index", o.ignore_index, int64_t{-100});
    DescribeReduction(o.reduction, d);
  }
};
using NllLoss = FunctionLayerOf<NllLossFunction, Tensor, Tensor>;

// Binary cross entropy of probabilities and targets of one shape.
struct BceLossFunction {
  static constexpr const char* kName = "BceLoss";
  using Options = BinaryCrossEntropyOptions;
  template <class F>
  static void Buffers(Options& o, F visit) {
    visit("weight", o.weight);
  }
  static Tensor Call(const Tensor& p, const Tensor& target, const Options& o) {
    return firn::BinaryCrossEntropy(p, target, o);
  }
  static void Describe(const Options& o, Describer& d) { DescribeReduction(o.reduction, d); }
};
using BceLoss = FunctionLayerOf<BceLossFunction, Tensor, Tensor>;

// Binary cross entropy of logits and targets of one shape.
struct BceWithLogitsLossFunction {
  static constexpr const char* kName = "BceWithLogitsLoss";
  using Options = BinaryCrossEntropyWithLogitsOptions;
  template <class F>
  static void Buffers(Options& o, F visit) {
    visit("weight", o.weight);
    visit("pos_weight", o.pos_weight);
  }
  static Tensor Call(const Tensor& logits, const Tensor& target, const Options& o) {
    return firn::BinaryCrossEntropyWithLogits(logits, target, o);
  }
  static void Describe(const Options& o, Describer& d) { DescribeReduction(o.reduction, d); }
};
using BceWithLogitsLoss = FunctionLayerOf<BceWithLogitsLossFunction, Tensor, Tensor>;

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
  using Options = SmoothL1LossOptions;
  static Tensor Call(const Tensor& x, const Tensor& target, const Options& o) {
    return firn::SmoothL1Loss(x, target, o);
  }
  static void Describe(const Options& o, Describer& d) {
    DescribeReduction(o.reduction, d);
    d.Field("beta", o.beta, 1.0);
  }
};
using SmoothL1Loss = FunctionLayerOf<SmoothL1LossFunction, Tensor, Tensor>;

struct HuberLossFunction {
  static constexpr const char* kName = "HuberLoss";
  using Options = HuberLossOptions;
  static Tensor Call(const Tensor& x, const Tensor& target, const Options& o) {
    return firn::HuberLoss(x, target, o);
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
  using Options = KlDivOptions;
  static Tensor Call(const Tensor& log_q, const Tensor& p, const Options& o) {
    return firn::KlDiv(log_q, p, o);
  }
  static void Describe(const Options& o, Describer& d) {
    DescribeReduction(o.reduction, d);
    d.Field("log_target", o.log_target, false);
  }
};
using KlDivLoss = FunctionLayerOf<KlDivLossFunction, Tensor, Tensor>;

}  // namespace firn::nn

#endif  // FIRN_NN_LOSS_H_
