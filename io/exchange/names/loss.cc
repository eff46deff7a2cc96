// What the functions of tensor/ops/loss are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(BinaryCrossEntropy, .nnabla = "binary_cross_entropy");
FIRN_NAMES(BinaryCrossEntropyWithLogits, .nnabla = "sigmoid_cross_entropy");
FIRN_NAMES(CrossEntropy, .nnabla = "softmax_cross_entropy", .onnx = "SoftmaxCrossEntropyLoss");
FIRN_NAMES(BinaryError, .nnabla = "binary_error");
FIRN_NAMES(ConfusionMatrix, .nnabla = "confusion_matrix");
FIRN_NAMES(TopNError, .nnabla = "top_n_error");
FIRN_NAMES(NllLoss, .nnabla = "categorical_cross_entropy", .onnx = "NegativeLogLikelihoodLoss");
FIRN_NAMES(L1Loss, .nnabla = "absolute_error");
FIRN_NAMES(MseLoss, .nnabla = "squared_error");
FIRN_NAMES(HuberLoss, .nnabla = "huber_loss");
FIRN_NAMES(KlDiv, .nnabla = "kl_multinomial");
FIRN_NAMES(EpsilonInsensitiveLoss, .nnabla = "epsilon_insensitive_loss");
