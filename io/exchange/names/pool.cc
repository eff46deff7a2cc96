// What the functions of tensor/ops/pool are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(AvgPool2d, .nnabla = {"average_pooling", "sum_pooling"}, .onnx = "AveragePool");
FIRN_NAMES(AvgPool1d, .onnx = "AveragePool");
FIRN_NAMES(AvgPool3d, .nnabla = {"average_pooling", "sum_pooling"}, .onnx = "AveragePool");
FIRN_NAMES(AdaptiveAvgPool2d, .nnabla = "global_average_pooling",
           .onnx = {"GlobalAveragePool", "AveragePool"});
FIRN_NAMES(AdaptiveAvgPool1d, .onnx = "GlobalAveragePool");
FIRN_NAMES(AdaptiveAvgPool3d, .onnx = "GlobalAveragePool");
FIRN_NAMES(LpPool2d, .onnx = "LpPool");
FIRN_NAMES(LpPool1d, .onnx = "LpPool");
FIRN_NAMES(MaxPool2d, .nnabla = {"max_pooling", "max_pooling_backward"}, .onnx = "MaxPool");
FIRN_NAMES(MaxPool1d, .onnx = "MaxPool");
FIRN_NAMES(MaxPool3d, .nnabla = "max_pooling", .onnx = "MaxPool");
FIRN_NAMES(MaxPool1dWithIndices, .onnx = "MaxPool");
FIRN_NAMES(MaxPool2dWithIndices, .nnabla = "max_pooling", .onnx = "MaxPool");
FIRN_NAMES(MaxPool3dWithIndices, .nnabla = "max_pooling", .onnx = "MaxPool");
FIRN_NAMES(AdaptiveMaxPool2d, .onnx = "GlobalMaxPool");
FIRN_NAMES(AdaptiveMaxPool1d, .onnx = "GlobalMaxPool");
FIRN_NAMES(AdaptiveMaxPool3d, .onnx = "GlobalMaxPool");
FIRN_NAMES(MaxUnpool2d, .onnx = "MaxUnpool");
