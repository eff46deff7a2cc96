#ifndef FIRN_NN_LOSS_H_
#define FIRN_NN_LOSS_H_

// Losses as layers, called with (input, target). Formulas, shapes and options are those of the
// operations. Weights are buffers, as in PyTorch: saved, moved and cloned with the network.

#include "firn/nn/function_layer.h"
#include "firn/tensor/ops/loss/binary.h"
#include "firn/tensor/ops/loss/cross_entropy.h"
#include "firn/tensor/ops/loss/nll_loss.h"
#include "firn/tensor/ops/loss/regression.h"

namespace firn::nn {

// Of probabilities and targets of one shape.
using BceLoss = Loss<"BceLoss", firn::BinaryCrossEntropy>;
// Of logits and targets of one shape.
using BceWithLogitsLoss = Loss<"BceWithLogitsLoss", firn::BinaryCrossEntropyWithLogits>;
// Of logits [n, classes, ...] and class indices [n, ...] or probabilities.
using CrossEntropyLoss = Loss<"CrossEntropyLoss", firn::CrossEntropy>;
using HuberLoss = Loss<"HuberLoss", firn::HuberLoss>;
// Of log probabilities and the target distribution.
using KlDivLoss = Loss<"KlDivLoss", firn::KlDiv>;
using L1Loss = Loss<"L1Loss", firn::L1Loss, inner::LossAttrs>;
using MseLoss = Loss<"MseLoss", firn::MseLoss, inner::LossAttrs>;
// Of log probabilities (LogSoftmax) [n, classes, ...] and class indices [n, ...].
using NllLoss = Loss<"NllLoss", firn::NllLoss>;
using SmoothL1Loss = Loss<"SmoothL1Loss", firn::SmoothL1Loss>;

}  // namespace firn::nn

#endif  // FIRN_NN_LOSS_H_
