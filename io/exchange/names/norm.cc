// What the functions of tensor/ops/norm are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(BatchNorm, .nnabla = {"batch_normalization", "fused_batch_normalization"},
           .onnx = "BatchNormalization");
FIRN_NAMES(SyncBatchNorm, .nnabla = "sync_batch_normalization");
FIRN_NAMES(InstanceNorm, .nnabla = "instance_normalization", .onnx = "InstanceNormalization");
FIRN_NAMES(LocalResponseNorm, .onnx = "LRN");
FIRN_NAMES(MeanSubtraction, .nnabla = "mean_subtraction");
FIRN_NAMES(LayerNorm, .nnabla = "layer_normalization", .onnx = "LayerNormalization");
FIRN_NAMES(RmsNorm, .onnx = "RMSNormalization");
FIRN_NAMES(GroupNorm, .nnabla = "group_normalization", .onnx = "GroupNormalization");
FIRN_NAMES(Normalize, .nnabla = "norm_normalization", .onnx = "LpNormalization");
FIRN_NAMES(Standardize, .nnabla = {"tensor_normalization", "weight_standardization"},
           .onnx = "MeanVarianceNormalization");
FIRN_NAMES(WeightNorm, .nnabla = "weight_normalization");
FIRN_NAMES(SpectralNorm, .nnabla = "spectral_norm");
