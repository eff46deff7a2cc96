// What the functions of tensor/ops/norm are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(BatchNorm, .nnabla = {"batch_normalization", "fused_batch_normalization"},
           .onnx = "BatchNormalization");
FIRN_NAMES(LayerNorm, .nnabla = "layer_normalization", .onnx = "LayerNormalization");
FIRN_NAMES(RmsNorm, .onnx = "RMSNormalization");
FIRN_NAMES(GroupNorm, .nnabla = "group_normalization", .onnx = "GroupNormalization");
