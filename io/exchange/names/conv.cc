// What the functions of tensor/ops/conv are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Conv2d, .nnabla = {"convolution", "depthwise_convolution", "fused_convolution"},
           .onnx = "Conv");
FIRN_NAMES(Conv1d, .nnabla = {"convolution", "depthwise_convolution"}, .onnx = "Conv");
FIRN_NAMES(Conv3d, .nnabla = "convolution", .onnx = "Conv");
FIRN_NAMES(ConvTranspose2d, .nnabla = {"deconvolution", "depthwise_deconvolution"},
           .onnx = "ConvTranspose");
FIRN_NAMES(ConvTranspose1d, .nnabla = "deconvolution", .onnx = "ConvTranspose");
FIRN_NAMES(ConvTranspose3d, .nnabla = "deconvolution", .onnx = "ConvTranspose");
FIRN_NAMES(Fold, .onnx = "Col2Im");
