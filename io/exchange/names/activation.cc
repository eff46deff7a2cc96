// What the functions of tensor/ops/activation are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Relu, .nnabla = "relu", .onnx = "Relu");
FIRN_NAMES(LeakyRelu, .nnabla = "leaky_relu", .onnx = "LeakyRelu");
FIRN_NAMES(Prelu, .nnabla = "prelu", .onnx = "PRelu");
FIRN_NAMES(Threshold, .onnx = "ThresholdedRelu");
FIRN_NAMES(Hardtanh, .nnabla = "hard_tanh", .onnx = "Clip");
FIRN_NAMES(Relu6, .nnabla = "relu6", .onnx = "Clip");
FIRN_NAMES(Hardsigmoid, .nnabla = "hard_sigmoid", .onnx = "HardSigmoid");
FIRN_NAMES(Hardswish, .onnx = "HardSwish");
FIRN_NAMES(Elu, .nnabla = "elu", .onnx = "Elu");
FIRN_NAMES(Selu, .nnabla = "selu", .onnx = "Selu");
FIRN_NAMES(Celu, .onnx = "Celu");
FIRN_NAMES(Hardshrink, .onnx = "Shrink");
FIRN_NAMES(Softshrink, .onnx = "Shrink");
FIRN_NAMES(Tanhshrink, .nnabla = "tanh_shrink");
FIRN_NAMES(Sigmoid, .nnabla = "sigmoid", .onnx = "Sigmoid");
FIRN_NAMES(LogSigmoid, .nnabla = "log_sigmoid");
FIRN_NAMES(Tanh, .nnabla = "tanh", .onnx = "Tanh");
FIRN_NAMES(Softsign, .nnabla = "softsign", .onnx = "Softsign");
FIRN_NAMES(Silu, .nnabla = "swish");
FIRN_NAMES(Gelu, .nnabla = "gelu", .onnx = "Gelu");
FIRN_NAMES(Softplus, .nnabla = "softplus", .onnx = "Softplus");
FIRN_NAMES(Mish, .nnabla = "mish", .onnx = "Mish");
FIRN_NAMES(Softmax, .nnabla = "softmax", .onnx = "Softmax");
FIRN_NAMES(LogSoftmax, .nnabla = "log_softmax", .onnx = "LogSoftmax");
FIRN_NAMES(ConcatElu, .nnabla = "celu");
FIRN_NAMES(ConcatRelu, .nnabla = "crelu");
