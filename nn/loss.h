#ifndef FIRN_NN_LOSS_H_
#define FIRN_NN_LOSS_H_

// Losses as layers, called with (input, target) unless they say otherwise. Formulas, shapes and
// options are those of the operations. Weights are buffers, as in PyTorch: saved, moved and cloned
// with the network.

#include <limits>

#include "firn/nn/function_layer.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/ops/loss/binary.h"
#include "firn/tensor/ops/loss/cross_entropy.h"
#include "firn/tensor/ops/loss/ctc_loss.h"
#include "firn/tensor/ops/loss/likelihood.h"
#include "firn/tensor/ops/loss/margin.h"
#include "firn/tensor/ops/loss/nll_loss.h"
#include "firn/tensor/ops/loss/regression.h"
#include "firn/tensor/ops/loss/similarity.h"

namespace firn::nn {

struct EpsilonInsensitiveLossOptions {
  double epsilon = 0;  // elements that do not count
  Reduction reduction = Reduction::kNone;
  template <class V>
  void Visit(V& v) {
    v.Always("epsilon", epsilon);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const {
    CheckRange(where, "epsilon", epsilon, 0, std::numeric_limits<double>::infinity());
    inner::CheckLossReduction(reduction, where);
  }
};

// For probabilities and targets of one shape.
using BceLoss = Loss<"BceLoss", firn::BinaryCrossEntropy>;
// For logits and targets of one shape.
using BceWithLogitsLoss = Loss<"BceWithLogitsLoss", firn::BinaryCrossEntropyWithLogits>;
// Called with (x1, x2, target).
using CosineEmbeddingLoss = Loss<"CosineEmbeddingLoss", firn::CosineEmbeddingLoss>;
// For logits [n, classes, ...] and class indices [n, ...] or probabilities.
using CrossEntropyLoss = Loss<"CrossEntropyLoss", firn::CrossEntropy>;
// Called with (log_probs, targets, input_lengths, target_lengths).
using CtcLoss = Loss<"CtcLoss", firn::CtcLoss>;
using EpsilonInsensitiveLoss =
    Loss<"EpsilonInsensitiveLoss", firn::EpsilonInsensitiveLoss, EpsilonInsensitiveLossOptions>;
// Called with (mean, target, var).
using GaussianNllLoss = Loss<"GaussianNllLoss", firn::GaussianNllLoss>;
using HingeEmbeddingLoss = Loss<"HingeEmbeddingLoss", firn::HingeEmbeddingLoss>;
using HuberLoss = Loss<"HuberLoss", firn::HuberLoss>;
// For log probabilities and the target distribution.
using KlDivLoss = Loss<"KlDivLoss", firn::KlDiv>;
using L1Loss = Loss<"L1Loss", firn::L1Loss, inner::LossAttrs>;
// Called with (x1, x2, target).
using MarginRankingLoss = Loss<"MarginRankingLoss", firn::MarginRankingLoss>;
using MseLoss = Loss<"MseLoss", firn::MseLoss, inner::LossAttrs>;
using MultiMarginLoss = Loss<"MultiMarginLoss", firn::MultiMarginLoss>;
using MultilabelMarginLoss =
    Loss<"MultilabelMarginLoss", firn::MultilabelMarginLoss, inner::LossAttrs>;
using MultilabelSoftMarginLoss = Loss<"MultilabelSoftMarginLoss", firn::MultilabelSoftMarginLoss>;
// For log probabilities (LogSoftmax) [n, classes, ...] and class indices [n, ...].
using NllLoss = Loss<"NllLoss", firn::NllLoss>;
using PoissonNllLoss = Loss<"PoissonNllLoss", firn::PoissonNllLoss>;
using SigmoidFocalLoss = Loss<"SigmoidFocalLoss", firn::SigmoidFocalLoss>;
using SmoothL1Loss = Loss<"SmoothL1Loss", firn::SmoothL1Loss>;
using SoftMarginLoss = Loss<"SoftMarginLoss", firn::SoftMarginLoss, inner::LossAttrs>;
// Called with (anchor, positive, negative).
using TripletMarginLoss = LayerOfForm<"TripletMarginLoss",
                                      Tensor(const Tensor&, const Tensor&, const Tensor&,
                                             const TripletMarginLossOptions&),
                                      firn::TripletMarginLoss>;

}  // namespace firn::nn

#endif  // FIRN_NN_LOSS_H_
