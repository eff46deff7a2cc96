#ifndef FIRN_NN_LOSS_H_
#define FIRN_NN_LOSS_H_

// Losses as layers, called with (input, target) unless they say otherwise. Formulas, shapes and
// options are those of the operations. Weights are buffers, as in PyTorch: saved, moved and cloned
// with the network.

#include "firn/nn/function_layer.h"
#include "firn/tensor/ops/loss/binary.h"
#include "firn/tensor/ops/loss/cross_entropy.h"
#include "firn/tensor/ops/loss/ctc_loss.h"
#include "firn/tensor/ops/loss/likelihood.h"
#include "firn/tensor/ops/loss/margin.h"
#include "firn/tensor/ops/loss/nll_loss.h"
#include "firn/tensor/ops/loss/regression.h"
#include "firn/tensor/ops/loss/similarity.h"

namespace firn::nn {

namespace internal {
// The overload with options of a loss that also takes a reduction alone.
using LossWithOptions = Tensor(const Tensor&, const Tensor&, const LossOptions&);
}  // namespace internal

using firn::EpsilonInsensitiveLossOptions;

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
    LayerOfForm<"EpsilonInsensitiveLoss",
                Tensor(const Tensor&, const Tensor&, const EpsilonInsensitiveLossOptions&),
                firn::EpsilonInsensitiveLoss>;
// Called with (mean, target, var).
using GaussianNllLoss = Loss<"GaussianNllLoss", firn::GaussianNllLoss>;
using HingeEmbeddingLoss = Loss<"HingeEmbeddingLoss", firn::HingeEmbeddingLoss>;
using HuberLoss = Loss<"HuberLoss", firn::HuberLoss>;
// For log probabilities and the target distribution.
using KlDivLoss = Loss<"KlDivLoss", firn::KlDiv>;
using L1Loss = LayerOfForm<"L1Loss", internal::LossWithOptions, firn::L1Loss>;
// Called with (x1, x2, target).
using MarginRankingLoss = Loss<"MarginRankingLoss", firn::MarginRankingLoss>;
using MseLoss = LayerOfForm<"MseLoss", internal::LossWithOptions, firn::MseLoss>;
using MultiMarginLoss = Loss<"MultiMarginLoss", firn::MultiMarginLoss>;
using MultilabelMarginLoss =
    LayerOfForm<"MultilabelMarginLoss", internal::LossWithOptions, firn::MultilabelMarginLoss>;
using MultilabelSoftMarginLoss = Loss<"MultilabelSoftMarginLoss", firn::MultilabelSoftMarginLoss>;
// For log probabilities (LogSoftmax) [n, classes, ...] and class indices [n, ...].
using NllLoss = Loss<"NllLoss", firn::NllLoss>;
using PoissonNllLoss = Loss<"PoissonNllLoss", firn::PoissonNllLoss>;
using SigmoidFocalLoss = Loss<"SigmoidFocalLoss", firn::SigmoidFocalLoss>;
using SmoothL1Loss = Loss<"SmoothL1Loss", firn::SmoothL1Loss>;
using SoftMarginLoss =
    LayerOfForm<"SoftMarginLoss", internal::LossWithOptions, firn::SoftMarginLoss>;
// Called with (anchor, positive, negative).
using TripletMarginLoss = LayerOfForm<"TripletMarginLoss",
                                      Tensor(const Tensor&, const Tensor&, const Tensor&,
                                             const TripletMarginLossOptions&),
                                      firn::TripletMarginLoss>;

}  // namespace firn::nn

#endif  // FIRN_NN_LOSS_H_
